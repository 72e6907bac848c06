/** The commands that a Markdown file tells its reader to type. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

/** A transcript: each `$ command` with the output that is promised for it. */
export function transcript(text: string): { command: string; output: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { command: part.slice(0, end), output: part.slice(end + 1) };
    });
}

/** Every npm script a text speaks of: `npm test`, `npm run NAME`. */
export function npmScripts(markdown: string): string[] {
  const named = [...markdown.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
  return [...new Set([...named, ...(/npm test/.test(markdown) ? ['test'] : [])])];
}

/** Every file or folder of the tree that a text names in backticks: paths that begin with a folder of the tree. */
export function namedPaths(markdown: string, folders: readonly string[]): string[] {
  const ticked = [...markdown.matchAll(/`([\w./-]+)`/g)].map(([, path = '']) => path);
  const isOurs = (path: string) => folders.includes(path.split('/')[0] as string) && !path.includes('NAME');
  return [...new Set(ticked.filter(isOurs))];
}
