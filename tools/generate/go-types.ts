/** Reads the struct declarations of a Go source: as much of the language as API type files use. */
export interface GoField {
  /** In JSON; empty for an embedded struct. */
  readonly name: string;
  /** Without the pointer. */
  readonly type: string;
  readonly isPointer: boolean;
  /** Its members stand beside those of the struct that embeds it. */
  readonly isInline: boolean;
  readonly isOmittedEmpty: boolean;
  /** Left out also where `omitempty` has no say: a struct. */
  readonly isOmittedZero: boolean;
  /** The struct it comes from, when that is embedded in the one at hand. */
  readonly embeddedIn?: string;
  /** What protobuf knows it by; absent where it does not travel as protobuf. */
  readonly protobuf?: { readonly number: number; readonly name?: string };
}

/** The fields of each struct, by its name. */
export type GoTypes = ReadonlyMap<string, readonly GoField[]>;

export function parseGoTypes(source: string): GoTypes {
  const types = new Map<string, GoField[]>();
  // A type made from another has the same fields: `type PodTemplateVolume Volume`.
  const made: [string, string][] = [];
  let current: GoField[] | undefined;
  for (const line of source.split('\n')) {
    const start = /^type (\w+) struct \{/.exec(line);
    const other = /^type (\w+) (\w+)$/.exec(line);
    if (start?.[1] !== undefined) {
      current = [];
      types.set(start[1], current);
    } else if (other?.[1] !== undefined && other[2] !== undefined) {
      made.push([other[1], other[2]]);
    } else if (line === '}') {
      current = undefined;
    } else if (current) {
      const field = parseField(line);
      if (field) current.push(field);
    }
  }
  for (const [name, from] of made) {
    const fields = types.get(from);
    if (fields) types.set(name, fields);
  }
  return types;
}

function parseField(line: string): GoField | undefined {
  const match = /^\s*(?:(\w+)\s+)?(\*?)([\w.[\]*]+)\s+`.*?json:"([^"]*)"/.exec(line);
  if (!match || /^\s*\/\//.test(line)) return undefined;
  const [, , star, type = '', tag = ''] = match;
  const [name = '', ...options] = tag.split(',');
  if (name === '-') return undefined;
  return {
    name,
    type,
    isPointer: star === '*',
    isInline: name === '',
    isOmittedEmpty: options.includes('omitempty'),
    isOmittedZero: options.includes('omitzero'),
    ...protobufOf(line),
  };
}

function protobufOf(line: string): Pick<GoField, 'protobuf'> {
  const [, number, name] = /protobuf:"\w+,(\d+)(?:[^"]*,name=(\w+))?/.exec(line) ?? [];
  return number === undefined
    ? {}
    : { protobuf: { number: Number(number), ...(name === undefined ? {} : { name }) } };
}
