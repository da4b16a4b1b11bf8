/** One request for a partition of a database, on its way through an actor. */
import type { Reply, SlicedCommand } from '../../domain/kv/index.js';
import type { CommandId, MillraceError } from '../../kernel/index.js';
import type { KvRequest, KvResponse } from '../../messages/index.js';
import type { Work } from '../runtime/index.js';

export class KvWork implements Work {
  enteredAtMs = 0;
  waitsForTurn = 0;
  hasWritten = false;
  /** Commands already executed. */
  progress = 0;
  readonly replies: Reply[] = [];
  /** The command that `progress` points at, where it runs in slices and has begun. */
  slices: SlicedCommand | undefined;
  /** Ordinal of its last write among the effects of that entry. */
  ordinal = 0;
  /** The partition's latest token, asked for when a request that only read is answered. */
  latestToken: () => string = () => '0-0';

  constructor(
    readonly request: KvRequest,
    private readonly onReply: (response: KvResponse) => void,
    private readonly onFailure: (error: MillraceError) => void,
    readonly commandId?: CommandId | undefined,
  ) {}

  get tenant(): string {
    return this.request.database;
  }

  get bytes(): number {
    return this.request.bytes;
  }

  get commands(): number {
    return this.request.commands.length;
  }

  release(position: number): void {
    const syncToken = this.hasWritten ? `${position}-${this.ordinal}` : this.latestToken();
    this.onReply({ replies: this.replies, syncToken });
  }

  reject(error: MillraceError): void {
    this.onFailure(error);
  }
}
