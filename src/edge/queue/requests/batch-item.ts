/** One message of `POST /v2/batch`. */
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { IsName } from './rules.js';

export class BatchItemRequest {
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly destination: string;

  @IsOptional()
  @IsString()
  readonly body: string | undefined;

  @IsOptional()
  @IsName()
  readonly queue: string | undefined;

  /** Beside the header of that name, which wins. */
  @IsOptional()
  @IsString()
  readonly callback: string | undefined;

  /** `null` is as good as left out. */
  private constructor(members: ReadonlyMap<string, unknown>) {
    this.destination = members.get('destination') as string;
    this.body = (members.get('body') ?? undefined) as string | undefined;
    this.queue = (members.get('queue') ?? undefined) as string | undefined;
    this.callback = (members.get('callback') ?? undefined) as string | undefined;
  }

  /** @throws Refused 400 */
  static from(item: unknown): BatchItemRequest {
    const request = new BatchItemRequest(membersOf(item, 'a message'));
    return request.#isPlain ? request : checked(request);
  }

  /** What nearly all items are, seen without asking the rules, which takes ten times as long. */
  get #isPlain(): boolean {
    const { destination, body, queue, callback } = this;
    const hasBody = body === undefined || typeof body === 'string';
    const isShort = typeof destination === 'string' && destination.length <= MAX_URL_BYTES;
    return isShort && hasBody && queue === undefined && callback === undefined;
  }
}
