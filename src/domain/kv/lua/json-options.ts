/** The options of `cjson`, with that library's defaults. */
export class JsonOptions {
  /** Whether sparse arrays become objects instead of errors. */
  convertSparse = false;
  /** A table is sparse when its largest index exceeds this many times its number of items (0: never) … */
  sparseRatio = 2;
  /** … and also exceeds this number. */
  sparseSafe = 10;
  encodeMaxDepth = 1000;
  decodeMaxDepth = 1000;
  precision = 14;
  keepBuffer = true;
  /** NaN and infinities: refused, written as they are, or written as null. */
  encodeInvalid: 'refused' | 'written' | 'null' = 'refused';
  decodeInvalid = true;
}
