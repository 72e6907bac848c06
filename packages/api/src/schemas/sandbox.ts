/** The schema of a Sandbox, v1beta1: what is accepted, and what is filled in when left out. */
import { z } from 'zod';
import { sandboxDefaults } from '../sandbox.ts';
import { atomicStrings, conditions, dateTime, podTemplate, volumeClaimTemplates } from './common.ts';

export const sandboxSpecSchema = z
  .object({
    podTemplate,
    volumeClaimTemplates: volumeClaimTemplates.optional(),
    service: z.boolean().optional(),
    shutdownTime: dateTime.optional(),
    shutdownPolicy: z.enum(['Delete', 'Retain']).default(sandboxDefaults.shutdownPolicy),
    operatingMode: z.enum(['Running', 'Suspended']).default(sandboxDefaults.operatingMode),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        // Claims are made once, with the sandbox: a later change could not reach them.
        rule:
          'has(self.volumeClaimTemplates) == has(oldSelf.volumeClaimTemplates) && ' +
          '(!has(self.volumeClaimTemplates) || self.volumeClaimTemplates == oldSelf.volumeClaimTemplates)',
        message: 'volumeClaimTemplates is immutable',
      },
    ],
  });

export const sandboxStatusSchema = z.object({
  conditions: conditions.optional(),
  selector: z.string().optional(),
  service: z.string().optional(),
  serviceFQDN: z.string().optional(),
  podIPs: atomicStrings.optional(),
  nodeName: z.string().optional(),
});

/** Metadata is the API server's to check. */
export const sandboxSchema = z.object({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.looseObject({}).optional().meta({ 'x-hutch-plain-object': true }),
  spec: sandboxSpecSchema,
  status: sandboxStatusSchema.optional(),
});
