/**
 * A request body in Kubernetes' protobuf: four bytes that say so, then a message around the object that tells its
 * kind. client-go writes every built-in kind this way unless it is told not to, and does not try JSON when refused.
 * We only read it: every client that writes it also takes JSON for an answer.
 */
import { Fault } from '@hutch/base';
import type { TypeMeta } from '@hutch/kube-meta';
import type { JsonObject } from '../json.ts';
import { kindTypes } from '../schema/structures/index.gen.ts';
import { readMessage } from './message.ts';
import { WireReader, wireTypes } from './wire.ts';

export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

const prefix = Buffer.from('k8s\0', 'latin1');

/** An object that is still bytes, with what it says it is; empty where it does not say. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
}

/** An `invalid` fault for bytes that are no such body. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (body.length === 0) throw new Fault('invalid', 'empty data');
  if (!body.subarray(0, prefix.length).equals(prefix)) {
    const shown = [...prefix].join(' ');
    const message = `provided data does not appear to be a protobuf message, expected prefix [${shown}]`;
    throw new Fault('invalid', message);
  }
  if (body.length === prefix.length) throw new Fault('invalid', 'empty body');
  return readUnknown(new WireReader(body, prefix.length));
}

/** The message Kubernetes calls Unknown: fields 1 and 2; how the object is encoded or compressed is never said. */
function readUnknown(reader: WireReader): Envelope {
  let apiVersion = '';
  let kind = '';
  let raw: Buffer = Buffer.alloc(0);
  while (!reader.isDone) {
    const { number, wireType } = reader.tag('Unknown');
    if (number > 2) {
      reader.skip(wireType);
      continue;
    }
    expectBytes(wireType, number === 1 ? 'TypeMeta' : 'Raw');
    if (number === 2) {
      raw = reader.bytes();
      continue;
    }
    const type = reader.message();
    while (!type.isDone) {
      const field = type.tag('TypeMeta');
      if (field.number > 2) {
        type.skip(field.wireType);
        continue;
      }
      expectBytes(field.wireType, field.number === 1 ? 'APIVersion' : 'Kind');
      if (field.number === 1) apiVersion = type.text();
      else kind = type.text();
    }
  }
  return { apiVersion, kind, raw };
}

function expectBytes(wireType: number, field: string): void {
  if (wireType !== wireTypes.bytes) {
    throw new Fault('invalid', `proto: wrong wireType = ${wireType} for field ${field}`);
  }
}

const optionsKind = 'DeleteOptions';

/**
 * The object inside, as if it had come as JSON; where it does not say what it is, it is what was wanted. Of a kind
 * we do not know there is only its name: whoever wanted another one says so. Options of a deletion are in every
 * group. An `invalid` fault for bytes that cannot be of the kind.
 */
export function objectIn({ raw, ...given }: Envelope, wanted: TypeMeta): JsonObject {
  const kind = given.kind || wanted.kind;
  const apiVersion = given.apiVersion || wanted.apiVersion;
  const type = kind === optionsKind ? `meta.v1.${optionsKind}` : kindTypes[`${apiVersion}/${kind}`];
  return { kind, apiVersion, ...(type === undefined ? {} : readMessage(raw, type)) };
}
