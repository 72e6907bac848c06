import { parseSync, Visitor } from 'rolldown/utils';

/** One place where a module names another module. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** `import()` is reached only when it is called, so it cannot close a cycle at load time. */
  readonly isLazy: boolean;
  /** Gone when types are stripped. `import { type A } from` is not: the module is still loaded. */
  readonly isTypeOnly: boolean;
  /** `export * from`: the names that pass through are said nowhere. */
  readonly isWholesaleExport: boolean;
}

interface Named {
  readonly start: number;
  readonly specifier: string | undefined;
  readonly kind?: 'type' | 'value' | 'typeof' | undefined;
  readonly isLazy?: boolean;
  readonly isWholesaleExport?: boolean;
}

/**
 * Every module a source file names, in the order of the text.
 *
 * A real parser reads the file, so comments, strings, templates and regular expressions cannot be mistaken
 * for imports. `import(expression)` is left out: what it loads is not in the text. Throws on a syntax error.
 */
export function importsOf(path: string, source: string): Import[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new SyntaxError(`parse ${path}: ${errors[0]?.message}`);

  const found: Import[] = [];
  const add = ({ start, specifier, kind, isLazy = false, isWholesaleExport = false }: Named) => {
    if (specifier === undefined) return;
    const isTypeOnly = kind === 'type';
    found.push({ specifier, line: lineAt(source, start), isLazy, isTypeOnly, isWholesaleExport });
  };
  new Visitor({
    ImportDeclaration: ({ start, source, importKind }) =>
      add({ start, specifier: source.value, kind: importKind }),
    ExportNamedDeclaration: ({ start, source, exportKind }) =>
      add({ start, specifier: source?.value, kind: exportKind }),
    ExportAllDeclaration: ({ start, source, exportKind }) =>
      add({ start, specifier: source.value, kind: exportKind, isWholesaleExport: true }),
    ImportExpression: ({ start, source }) => add({ start, specifier: constantText(source), isLazy: true }),
    TSImportType: ({ start, source }) => add({ start, specifier: source.value, kind: 'type' }),
  }).visit(program);
  return found;
}

/** The value of a string or of a template without holes; undefined for anything computed. */
function constantText(node: {
  type: string;
  value?: unknown;
  quasis?: { value: { cooked: string | null } }[];
}) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral' || node.quasis?.length !== 1) return undefined;
  return node.quasis[0]?.value.cooked ?? undefined;
}

function lineAt(source: string, offset: number): number {
  let line = 1;
  for (let at = source.indexOf('\n'); at !== -1 && at < offset; at = source.indexOf('\n', at + 1)) line++;
  return line;
}
