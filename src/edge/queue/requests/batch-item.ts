/** One message of `POST /v2/batch`. */
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { checked, membersOf } from './checked.js';
import { IsName } from './rules.js';

export class BatchItemRequest {
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly destination: string;

  /** Header names and values; judged with the settings. */
  readonly headers: unknown;

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
    this.headers = members.get('headers') ?? {};
    this.body = (members.get('body') ?? undefined) as string | undefined;
    this.queue = (members.get('queue') ?? undefined) as string | undefined;
    this.callback = (members.get('callback') ?? undefined) as string | undefined;
  }

  /** @throws Refused 400 */
  static from(item: unknown): BatchItemRequest {
    return checked(new BatchItemRequest(membersOf(item, 'a message')));
  }
}
