/** The body of an invoke: a child run's payload, and how its result is brought to the step that waits for it. */
import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { filled } from '../../http/request-class.js';

export class InvokeRequest {
  /** The child's payload; undefined: empty. */
  @IsOptional()
  @IsString()
  readonly body: string | undefined;

  /** The run that waits; all that follows is about it as well. */
  @IsString()
  readonly workflowRunId!: string;

  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly workflowUrl!: string;

  /** Name → a text or a list of texts; judged with the settings. */
  @IsObject()
  readonly headers!: object;

  @IsObject()
  readonly step!: object;

  /** @throws Refused 400 */
  static from(body: unknown): InvokeRequest {
    const members = membersOf(body);
    return checked(filled(InvokeRequest, (name) => members.get(name) ?? (name === 'headers' ? {} : undefined)));
  }
}
