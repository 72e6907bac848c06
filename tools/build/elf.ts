/** As much of the ELF format as it takes to learn which loader a program asks for. 64-bit little-endian only. */
const programHeadersAt = 0x20;
const programHeaderBytesAt = 0x36;
const programHeaderCountAt = 0x38;
const interpreterType = 3;

/** The path of the dynamic loader the program names, or undefined for a static one. */
export function interpreterOf(file: Buffer): string | undefined {
  const isElf64 = file.length > 0x40 && file.toString('latin1', 0, 4) === '\x7fELF' && file[4] === 2;
  if (!isElf64 || file[5] !== 1) throw new Error('read a program: not a 64-bit little-endian ELF file');
  const tableAt = Number(file.readBigUInt64LE(programHeadersAt));
  const entryBytes = file.readUInt16LE(programHeaderBytesAt);
  for (let index = 0; index < file.readUInt16LE(programHeaderCountAt); index++) {
    const entry = tableAt + index * entryBytes;
    if (file.readUInt32LE(entry) !== interpreterType) continue;
    const at = Number(file.readBigUInt64LE(entry + 8));
    const bytes = Number(file.readBigUInt64LE(entry + 32));
    return file.toString('latin1', at, at + bytes - 1); // without the closing NUL
  }
  return undefined;
}
