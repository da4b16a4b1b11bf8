/** `POST /v2/workflows/check`: the endpoint of a new version, and how it is checked. */
import { IsBoolean, IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { checked } from '../../http/checked.js';
import { filled } from '../../http/request-class.js';

export class CheckRequest {
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly url!: string;

  /** Every step's code is executed by the endpoint; undefined: false. */
  @IsOptional()
  @IsBoolean()
  readonly executeSteps: boolean | undefined;

  /** @throws Refused 400 */
  static from(members: ReadonlyMap<string, unknown>): CheckRequest {
    return checked(filled(CheckRequest, (name) => members.get(name)));
  }
}
