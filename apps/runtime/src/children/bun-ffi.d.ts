// What this app uses of Bun beyond `node:` modules, so that it needs no types of a second platform.
declare module 'bun:ffi' {
  export function ptr(view: NodeJS.TypedArray): number;
  export function dlopen(
    name: string,
    symbols: Record<string, { readonly args: readonly string[]; readonly returns: string }>,
  ): { readonly symbols: Record<string, (...args: number[]) => number> };
}
