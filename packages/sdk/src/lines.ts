import { Fault } from '@hutch/base';

/** No object of an API is that long; a peer that sends more is broken. */
const maxLineChars = 8 << 20;

/** The lines of a byte stream cut anywhere. What follows the last new line was cut off and is dropped. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) if (line !== '') yield line;
    if (rest.length > maxLineChars)
      throw new Fault('too-large', `line of more than ${maxLineChars} characters`);
  }
}
