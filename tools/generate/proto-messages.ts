/** Reads the messages of a proto2 file: as much of the language as Kubernetes' published files use. */
export interface ProtoField {
  readonly number: number;
  readonly name: string;
  /** As written: a scalar, the name of a message of the same file, or a full name. */
  readonly type: string;
  readonly shape: 'one' | 'list' | 'map';
}

/** The fields of each message, by its name. */
export type ProtoMessages = ReadonlyMap<string, readonly ProtoField[]>;

export function parseProtoMessages(source: string): ProtoMessages {
  const messages = new Map<string, ProtoField[]>();
  let current: ProtoField[] | undefined;
  for (const line of source.replace(/\/\*[\s\S]*?\*\//g, '').split('\n')) {
    const text = line.replace(/\/\/.*/, '').trim();
    const start = /^message (\w+) \{$/.exec(text);
    if (start?.[1] !== undefined) {
      current = [];
      messages.set(start[1], current);
    } else if (text === '}') {
      current = undefined;
    } else if (current && text !== '' && !text.startsWith('reserved ')) {
      current.push(parseField(text));
    }
  }
  return messages;
}

function parseField(text: string): ProtoField {
  const match = /^(?:(optional|repeated) ([\w.]+)|map<string, ([\w.]+)>) (\w+) = (\d+);$/.exec(text);
  const [, label, single, value, name, number] = match ?? [];
  const type = single ?? value;
  if (type === undefined || name === undefined) throw new Error(`not a field of a message: ${text}`);
  const shape = value === undefined ? (label === 'repeated' ? 'list' : 'one') : 'map';
  return { number: Number(number), name, type, shape };
}
