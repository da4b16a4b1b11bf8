/**
 * Contents that follow from keys and are stored in a file, so that a start need not make them again: those of an index,
 * and the graph of many vectors. They are compared with the keys, so a file of any earlier moment can be used.
 */
import type { ByteString } from '../../kernel/index.js';

export interface StorableContents {
  /** Names the file. */
  readonly text: ByteString;
  /** The work on the contents waits until the file was read, or could not be. */
  readonly wantsFile: boolean;
  /** Ends that wait. @param stored undefined: there is no file, or a damaged one */
  begin(stored: Uint8Array | undefined): void;
  /** Documents, or vectors in the graph. */
  readonly items: number;
  /** Changes since they were stored; undefined: they are not to be stored now. */
  readonly unstored: number | undefined;
  /**
   * The contents as bytes; undefined: a pause. Other work may be done between two pieces. Has to be run to its end, or
   * ended with `return`.
   */
  pieces(): Generator<Uint8Array | undefined, void>;
}
