/** `POST /v2/workflows/runs/<id>/rerun`: where a new run begins, and the values that replace recorded ones. */
import { IsOptional, IsString, MaxLength, ValidateBy, type ValidationArguments } from 'class-validator';
import { MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { MAX_RUN_ENTRIES, MAX_STEP_NAME_BYTES } from '../../../domain/queue/runs/index.js';
import { checked } from '../../http/checked.js';
import { filled } from '../../http/request-class.js';

export class RerunRequest {
  /** The number of a step, 0 for the payload, or the name of a step. */
  @IsStep()
  readonly fromStep!: number | string;

  /** A URL for the new run; undefined: that of the earlier run. */
  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly url: string | undefined;

  /** Replaces the payload: a text as it is, any other value as JSON. Undefined: the payload of the earlier run. */
  @IsOptional()
  readonly input: unknown;

  /** The result of the step, which is then not executed; undefined: the step is executed. */
  @IsOptional()
  readonly stepResult: unknown;

  /** @throws Refused 400 */
  static from(members: ReadonlyMap<string, unknown>): RerunRequest {
    return checked(filled(RerunRequest, (name) => members.get(name)));
  }
}

function IsStep(): PropertyDecorator {
  return ValidateBy({
    name: 'isStep',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string'
          ? value !== '' && Buffer.byteLength(value) <= MAX_STEP_NAME_BYTES
          : Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_RUN_ENTRIES,
      defaultMessage: (about?: ValidationArguments) =>
        `${about?.property} must be the number of a step, 0 for the payload, or the name of a step`,
    },
  });
}
