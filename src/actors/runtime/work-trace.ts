/**
 * The two spans of a command at the owner of its shard: from its mailbox to its answer, and within it the wait for the
 * entry that the answer depends on.
 */
import type { ShardName } from '../../kernel/index.js';
import type { Span } from '../../messages/index.js';

export class WorkTrace {
  #entry: Span | undefined;

  /** @param span of the command, which ends with its answer */
  constructor(private readonly span: Span) {}

  /** It has been executed. @param waits its answer leaves with the next entry, or with the one that is on its way */
  executed(shard: ShardName, waits: 'for-its-entry' | 'for-an-entry' | undefined): void {
    this.span.event('executed');
    if (waits === undefined) return;
    const name = waits === 'for-its-entry' ? 'append entry' : 'await entry';
    this.#entry = this.span.child(name, 'internal', { 'millrace.shard': shard });
  }

  /** @param position the last that is stored */
  released(position: number): void {
    this.#entry?.set({ 'millrace.journal.position': position });
    this.#entry?.end();
    this.span.end();
  }

  failed(code: string): void {
    this.#entry?.end(code);
    this.span.end(code);
  }
}
