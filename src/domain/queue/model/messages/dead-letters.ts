/** All DLQ entries in one order: plain messages and failed runs, which are stored separately. */
import type { DlqEntry } from '../records.js';
import { type DlqEntries, numberOf } from './dlq-entries.js';

export class DeadLetters {
  /** The number of the next entry of either kind. */
  next = 1;

  constructor(
    private readonly plain: DlqEntries,
    private readonly ofRuns: DlqEntries,
  ) {}

  get size(): number {
    return this.plain.size + this.ofRuns.size;
  }

  get answerBytes(): number {
    return this.plain.answerBytes + this.ofRuns.answerBytes;
  }

  get answerMemoryBytes(): number {
    return this.plain.answerMemoryBytes + this.ofRuns.answerMemoryBytes;
  }

  get oldest(): DlqEntry | undefined {
    const { oldest } = this.plain;
    const oldestRun = this.ofRuns.oldest;
    if (oldest === undefined || oldestRun === undefined) return oldest ?? oldestRun;
    return numberOf(oldest.dlqId) < numberOf(oldestRun.dlqId) ? oldest : oldestRun;
  }

  /** Oldest first; entries may be deleted during the iteration. */
  *ascending(): Iterable<DlqEntry> {
    const plain = this.plain.ascending()[Symbol.iterator]();
    const ofRuns = this.ofRuns.ascending()[Symbol.iterator]();
    let one = plain.next();
    let other = ofRuns.next();
    while (one.done !== true || other.done !== true) {
      const isPlain =
        one.done !== true && (other.done === true || numberOf(one.value.dlqId) < numberOf(other.value.dlqId));
      if (isPlain) {
        yield one.value;
        one = plain.next();
      } else if (other.done !== true) {
        yield other.value;
        other = ofRuns.next();
      }
    }
  }
}
