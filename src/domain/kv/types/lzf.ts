/**
 * Decompresses LZF, which Redis uses for long strings in dump payloads. A control byte below 32 starts a run of
 * literals. Any other is a back reference: the length in its top three bits, plus a further byte if they are all set;
 * the distance in its low five bits and the next byte.
 */

/** The plain bytes, or undefined if the data does not decode to exactly `length` bytes. */
export function decompressLzf(data: Uint8Array, length: number): Buffer | undefined {
  const plain = Buffer.allocUnsafe(length);
  let from = 0;
  let to = 0;
  while (from < data.length) {
    const control = data[from] as number;
    from += 1;
    if (control < 32) {
      const run = control + 1;
      if (from + run > data.length || to + run > length) return undefined;
      plain.set(data.subarray(from, from + run), to);
      from += run;
      to += run;
      continue;
    }
    let run = control >> 5;
    if (run === 7) {
      run += data[from] ?? 0;
      from += 1;
    }
    run += 2;
    const low = data[from];
    from += 1;
    if (low === undefined) return undefined;
    let source = to - ((control & 0x1f) << 8) - low - 1;
    if (source < 0 || to + run > length) return undefined;
    // Byte by byte, because source and target may overlap: that is how LZF repeats a short pattern.
    for (const end = to + run; to < end; to += 1) {
      plain[to] = plain[source] as number;
      source += 1;
    }
  }
  return to === length ? plain : undefined;
}
