/**
 * The batches of one connection: commands are collected in the open batch, sent without waiting for earlier answers
 * (RCO1), and answered in their order.
 */
import { encodeReplyAs } from '../../codec/resp/index.js';
import type { Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { bytesOfWords } from '../commands/admission.js';
import { AnswerWriter } from './answer-writer.js';
import type { InPieces } from './commands/index.js';
import { type HeldBytes, UNCOUNTED_BYTES } from './held-bytes.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { RespBatch } from './resp-batch.js';
import type { RespClient } from './resp-client.js';
import type { RespOutput } from './resp-output.js';

export interface BatchPipelineParts {
  readonly client: RespClient;
  readonly output: RespOutput;
  readonly held: HeldBytes;
  isDisconnected(): boolean;
  /** Runs the commands of a batch that were not run because its answers were long. */
  runRest(batch: RespBatch): Promise<readonly Reply[]>;
  /** All answers that are known are written. */
  onWritten(): void;
  onFailure(failure: unknown): void;
}

export class BatchPipeline {
  /** A parsed command that waits until all earlier ones are answered. */
  postponed: readonly ByteString[] | undefined;
  #open = new RespBatch();
  readonly #underWay: RequestsUnderWay;
  readonly #writer: AnswerWriter;

  constructor(private readonly parts: BatchPipelineParts) {
    const { client, output, held } = parts;
    this.#underWay = new RequestsUnderWay(client);
    this.#writer = new AnswerWriter(client, output, held, () => this.#written());
  }

  /** The batch that is being filled. */
  get open(): RespBatch {
    return this.#open;
  }

  /** True when no sent batch waits for an answer. */
  get isAnswered(): boolean {
    return this.#underWay.isEmpty;
  }

  /** True when no earlier command waits for an answer, nor to be sent. */
  get isIdle(): boolean {
    return this.#open.isUnused && this.#underWay.isEmpty;
  }

  /** True when a command can be taken before the earlier ones are answered. */
  get mayGrow(): boolean {
    return this.#underWay.isEmpty || (this.postponed === undefined && this.#underWay.mayGrow);
  }

  /** Bytes of parsed words that stay until they are answered. */
  get heldBytes(): number {
    return this.#underWay.heldBytes;
  }

  /** Answers a command that ran here, after the earlier ones. */
  settle(reply: Reply): void {
    const { client, output } = this.parts;
    if (this.isIdle) output.answer(encodeReplyAs(reply, client.protocol));
    else this.#open.addAnswer(reply);
  }

  /** Sends the open batch, unless it is unused. */
  send(): void {
    const batch = this.#open;
    if (batch.isUnused) return;
    const { client, output } = this.parts;
    this.#open = new RespBatch();
    output.isHeld = true;
    this.#underWay.add(batch);
    // Only known answers, after others that are not known.
    if (batch.isEmpty) batch.settled = batch.answers([]);
    else this.#await(batch, client.calls.runBatch(client.grant as KvGrant, batch));
  }

  /** Writes the answers of a command that blocks later ones. */
  write(answers: readonly Reply[] | InPieces, bytes: number): void {
    this.parts.held.requestBytes = 0;
    this.#writer.begin(answers, bytes);
  }

  /** Counts bytes of parsed words that stay until they are answered. */
  hold(bytes: number): void {
    const { held } = this.parts;
    held.requestBytes = bytes;
    if (bytes > UNCOUNTED_BYTES) held.count();
  }

  /** Drops all batches without answers. */
  clear(): void {
    this.#underWay.clear();
  }

  #await(batch: RespBatch, answers: Promise<readonly Reply[]>): void {
    this.#holdWords();
    answers.then(
      (settled) => {
        batch.settled = settled;
        if (this.#underWay.first === batch) this.#answerFirst(batch);
        else this.#holdWords();
      },
      (failure) => this.parts.onFailure(failure),
    );
  }

  #holdWords(): void {
    this.hold(this.#underWay.heldBytes + bytesOfWords(this.postponed ?? []));
  }

  #answerFirst(batch: RespBatch): void {
    const answers = batch.settled as readonly Reply[];
    batch.settled = undefined;
    this.#underWay.noteAnswer(batch);
    this.parts.held.requestBytes = this.#underWay.heldBytes;
    this.#writer.begin(answers, batch.answerBytes);
  }

  #written(): void {
    const { first } = this.#underWay;
    if (first === undefined) this.parts.onWritten();
    else if (first.hasRest) this.#writer.whenRead(() => this.#askRest(first));
    else {
      this.#underWay.removeFirst();
      const next = this.#underWay.first;
      if (next?.settled !== undefined) this.#answerFirst(next);
      else this.parts.onWritten();
    }
  }

  #askRest(batch: RespBatch): void {
    if (this.parts.isDisconnected()) return;
    this.parts.held.answerBytes = 0;
    this.#await(batch, this.parts.runRest(batch));
  }
}
