/** Ctrl-D: what a terminal has instead of a closed pipe. */
export const endOfInput = Uint8Array.of(4);
