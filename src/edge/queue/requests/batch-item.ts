/** One message of `POST /v2/batch`. */
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { checked } from '../../http/checked.js';
import { filled } from '../../http/request-class.js';
import { IsResourceName } from './rules.js';

export class BatchItemRequest {
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly destination!: string;

  @IsOptional()
  @IsString()
  readonly body: string | undefined;

  @IsOptional()
  @IsResourceName()
  readonly queue: string | undefined;

  /** The header of that name wins over it. */
  @IsOptional()
  @IsString()
  readonly callback: string | undefined;

  /** @param members of the message. @throws Refused 400 */
  static from(members: Readonly<Record<string, unknown>>): BatchItemRequest {
    const request = filled(BatchItemRequest, (name) => members[name]);
    return isPlain(request) ? request : checked(request);
  }
}

/** What nearly all items are, seen without asking the rules, which takes ten times as long. */
function isPlain({ destination, body, queue, callback }: BatchItemRequest): boolean {
  const hasBody = body === undefined || typeof body === 'string';
  const isShort = typeof destination === 'string' && destination.length <= MAX_URL_BYTES;
  return isShort && hasBody && queue === undefined && callback === undefined;
}
