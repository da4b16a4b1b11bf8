/** The body of an invoke: a child run's payload, and how its result is brought to the step that waits for it. */
import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { checked, membersOf } from '../../http/checked.js';

export class InvokeRequest {
  /** The child's payload; undefined: empty. */
  @IsOptional()
  @IsString()
  readonly body: string | undefined;

  /** Of the run that waits, as all the rest. */
  @IsString()
  readonly workflowRunId: string;

  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly workflowUrl: string;

  /** Name → a text or a list of texts; judged with the settings. */
  @IsObject()
  readonly headers: object;

  @IsObject()
  readonly step: object;

  private constructor(members: ReadonlyMap<string, unknown>) {
    this.body = (members.get('body') ?? undefined) as string | undefined;
    this.workflowRunId = members.get('workflowRunId') as string;
    this.workflowUrl = members.get('workflowUrl') as string;
    this.headers = (members.get('headers') ?? {}) as object;
    this.step = members.get('step') as object;
  }

  /** @throws Refused 400 */
  static from(body: unknown): InvokeRequest {
    return checked(new InvokeRequest(membersOf(body)));
  }
}
