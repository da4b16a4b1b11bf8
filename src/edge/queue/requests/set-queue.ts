/** `POST /v2/queues`: a queue to be made or changed. */
import { IsBoolean, IsInt, Min } from 'class-validator';
import { checked, membersOf } from '../../http/checked.js';
import { filled } from '../../http/request-class.js';
import { IsResourceName } from './rules.js';

export class SetQueueRequest {
  @IsResourceName()
  readonly queueName!: string;

  @Min(1)
  @IsInt()
  readonly parallelism!: number;

  @IsBoolean()
  readonly paused!: boolean;

  /** @throws Refused 400 */
  static from(body: unknown): SetQueueRequest {
    const members = membersOf(body);
    const usual: Readonly<Record<string, unknown>> = { parallelism: 1, paused: false };
    return checked(filled(SetQueueRequest, (name) => members.get(name) ?? usual[name]));
  }
}
