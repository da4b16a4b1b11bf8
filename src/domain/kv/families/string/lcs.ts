/** LCS: the longest common subsequence of two strings. Refused when the table would be too large to fill quickly. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Handler } from '../../command-spec.js';
import { MAX_LCS_CELLS } from '../../limits.js';
import { ERRORS, ErrorReply, MapReply, type Reply } from '../../reply.js';

const bothForms = new ErrorReply('ERR If you want both the length and indexes, please just use IDX.');
const notStrings = new ErrorReply('ERR The specified keys must contain string values');
const tooLong = new ErrorReply('ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len');

interface Match {
  readonly aStart: number;
  readonly bStart: number;
  readonly length: number;
}

/**
 * LCS key1 key2 [LEN | IDX [MINMATCHLEN n] [WITHMATCHLEN]] → the subsequence, its length, or the matching ranges from
 * last to first with the length.
 */
export const longestCommonSubsequence: Handler = ({ args, keyspace }) => {
  let wantsLength = false;
  let wantsRanges = false;
  let withLengths = false;
  let minimum = 0;
  for (let i = 3; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'LEN') wantsLength = true;
    else if (option === 'IDX') wantsRanges = true;
    else if (option === 'WITHMATCHLEN') withLengths = true;
    else if (option === 'MINMATCHLEN') {
      i += 1;
      args.bytes(i);
      minimum = Math.max(0, args.offset(i));
    } else throw ERRORS.syntax;
  }
  if (wantsLength && wantsRanges) throw bothForms;
  const a = keyspace.peek(args.bytes(1)) ?? '';
  const b = keyspace.peek(args.bytes(2)) ?? '';
  if (typeof a !== 'string' || typeof b !== 'string') throw notStrings;
  if ((a.length + 1) * (b.length + 1) > MAX_LCS_CELLS) throw tooLong;
  const table = lengths(a, b);
  const total = table[table.length - 1] as number;
  if (wantsLength) return total;
  const matches = trace(a, b, table);
  if (!wantsRanges) return matches.reduceRight((text, m) => text + a.slice(m.aStart, m.aStart + m.length), '');
  const ranges = matches.filter((m) => m.length >= minimum).map((m) => rangeReply(m, withLengths));
  return new MapReply(['matches', ranges, 'len', total]);
};

/** Cell (i, j), at i·(|b|+1)+j, is the length for the first i bytes of `a` and the first j of `b`. */
function lengths(a: ByteString, b: ByteString): Uint32Array {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  const codes = Buffer.from(b, 'latin1');
  for (let i = 1; i <= a.length; i += 1) {
    const code = a.charCodeAt(i - 1);
    const row = i * width;
    let diagonal = 0;
    let left = 0;
    for (let j = 1; j < width; j += 1) {
      const up = table[row - width + j] as number;
      left = code === codes[j - 1] ? diagonal + 1 : Math.max(up, left);
      table[row + j] = left;
      diagonal = up;
    }
  }
  return table;
}

/** Runs of matching bytes, from last to first. */
function trace(a: ByteString, b: ByteString, table: Uint32Array): Match[] {
  const width = b.length + 1;
  const matches: Match[] = [];
  let i = a.length;
  let j = b.length;
  let length = 0;
  const close = (): void => {
    if (length > 0) matches.push({ aStart: i, bStart: j, length });
    length = 0;
  };
  while (i > 0 && j > 0) {
    if (a[i - 1] === b[j - 1]) {
      length += 1;
      i -= 1;
      j -= 1;
      continue;
    }
    close();
    const up = table[(i - 1) * width + j] as number;
    const left = table[i * width + j - 1] as number;
    if (up > left) i -= 1;
    else j -= 1;
  }
  close();
  return matches;
}

function rangeReply(match: Match, withLength: boolean): Reply {
  const ranges: Reply[] = [
    [match.aStart, match.aStart + match.length - 1],
    [match.bStart, match.bStart + match.length - 1],
  ];
  return withLength ? [...ranges, match.length] : ranges;
}
