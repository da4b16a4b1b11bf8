/** What the configuring functions of `cjson` change, with that library's defaults. */
export class JsonOptions {
  /** Sparse arrays become objects instead of errors. */
  convertSparse = false;
  /** A table is sparse when its largest index exceeds this many times its items (0: never) … */
  sparseRatio = 2;
  /** … and this number. */
  sparseSafe = 10;
  encodeMaxDepth = 1000;
  decodeMaxDepth = 1000;
  /** Significant digits of numbers. */
  precision = 14;
  keepBuffer = true;
  /** NaN and infinities: refused, written as they are, written as null. */
  encodeInvalid: 'refused' | 'written' | 'null' = 'refused';
  decodeInvalid = true;
}
