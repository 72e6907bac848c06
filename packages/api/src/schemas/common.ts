/** Pieces that the schemas of several kinds share. */
import { z } from 'zod';

const stringMap = z.record(z.string(), z.string());

/** RFC 3339, any offset, as Kubernetes accepts it. */
export const dateTime = z.iso.datetime({ offset: true });

/** `1`, `"500m"`, `"1Gi"`. */
const quantity = z
  .union([
    z.int(),
    z
      .string()
      .regex(
        /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/,
      ),
  ])
  .meta({ 'x-kubernetes-int-or-string': true });

const condition = z.object({
  type: z
    .string()
    .max(316)
    .regex(
      /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
    ),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32_768),
  lastTransitionTime: dateTime,
  observedGeneration: z.int().min(0).optional().meta({ format: 'int64' }),
});

/** One entry per type, so that two writers can each keep their own. */
export const conditions = z
  .array(condition)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

const atomic = { 'x-kubernetes-list-type': 'atomic' };
export const atomicStrings = z.array(z.string()).meta(atomic);

/**
 * An honest debt: the pod spec is only looked at from the outside, and whatever is inside is kept. The API server
 * that receives the Pod is the one that judges it, so a typing error shows late, as the sandbox's condition.
 * The full schema, generated from the published Kubernetes models, will end it.
 */
const podSpec = z
  .looseObject({
    containers: z.array(z.looseObject({}).meta({ 'x-kubernetes-preserve-unknown-fields': true })),
  })
  .meta({ 'x-kubernetes-preserve-unknown-fields': true });

export const podTemplate = z.object({
  metadata: z.object({ labels: stringMap.optional(), annotations: stringMap.optional() }).optional(),
  spec: podSpec,
});

const reference = {
  apiGroup: z.string().optional(),
  kind: z.string(),
  name: z.string(),
};

const volumeClaimSpec = z.object({
  accessModes: atomicStrings.optional(),
  dataSource: z.object(reference).optional().meta({ 'x-kubernetes-map-type': 'atomic' }),
  dataSourceRef: z.object({ ...reference, namespace: z.string().optional() }).optional(),
  resources: z
    .object({
      limits: z.record(z.string(), quantity).optional(),
      requests: z.record(z.string(), quantity).optional(),
    })
    .optional(),
  selector: z
    .object({
      matchExpressions: z
        .array(z.object({ key: z.string(), operator: z.string(), values: atomicStrings.optional() }))
        .optional()
        .meta(atomic),
      matchLabels: stringMap.optional(),
    })
    .optional()
    .meta({ 'x-kubernetes-map-type': 'atomic' }),
  storageClassName: z.string().optional(),
  volumeAttributesClassName: z.string().optional(),
  volumeMode: z.string().optional(),
  volumeName: z.string().optional(),
});

export const volumeClaimTemplates = z
  .array(
    z.object({
      metadata: z
        .object({
          name: z.string().optional(),
          labels: stringMap.optional(),
          annotations: stringMap.optional(),
        })
        .optional(),
      spec: volumeClaimSpec,
    }),
  )
  .meta(atomic);
