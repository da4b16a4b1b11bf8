/** `POST /v2/queues`: a queue to be made or changed. */
import { IsBoolean, IsInt, Min } from 'class-validator';
import { checked, membersOf } from '../../http/checked.js';
import { IsName } from './rules.js';

export class SetQueueRequest {
  @IsName()
  readonly queueName: string;

  @Min(1)
  @IsInt()
  readonly parallelism: number;

  @IsBoolean()
  readonly paused: boolean;

  private constructor(members: ReadonlyMap<string, unknown>) {
    this.queueName = members.get('queueName') as string;
    this.parallelism = (members.get('parallelism') ?? 1) as number;
    this.paused = (members.get('paused') ?? false) as boolean;
  }

  /** @throws Refused 400 */
  static from(body: unknown): SetQueueRequest {
    return checked(new SetQueueRequest(membersOf(body)));
  }
}
