/** Bodies and queries of calls about branches, and about undoing an author's writes. */
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';
import { MAX_BRANCH_MS, MIN_BRANCH_MS } from '../../../domain/control/index.js';
import { MAX_GLOB_BYTES } from '../../../domain/kv/index.js';
import { momentOf } from '../../../protocol/index.js';
import { describedRule } from '../../http/described-rule.js';
import { IsGivenName, IsNumberText } from './rules.js';

/** Keys in one answer. */
const MAX_DIFFERENCES = 10_000;
/** A user, an address or a token. */
const MAX_AUTHOR_CHARACTERS = 512;

/** `2026-05-01T12:00:00Z`, or a day. */
function IsInstant(): PropertyDecorator {
  const isInstant = (value: unknown) => typeof value === 'string' && momentOf(value)?.kind === 'time';
  const schema = { type: 'string', example: '2026-05-01T12:00:00Z' } as const;
  return describedRule('isInstant', isInstant, 'must be an instant like 2026-05-01T12:00:00Z', schema);
}

/** Milliseconds since the epoch, of a validated text. */
export function instantIn(text: string): number {
  return Date.parse(text);
}

export class CreateBranchRequest {
  @IsGivenName()
  readonly name!: string;

  /** The moment of the data. Default: now. */
  @IsOptional()
  @IsInstant()
  readonly at: string | undefined;

  /** True: messages that its commands publish are sent. Default: they are held. */
  @IsOptional()
  @IsBoolean()
  readonly live: boolean | undefined;

  /** Seconds until it is deleted. Default: a day. */
  @IsOptional()
  @IsInt()
  @Min(MIN_BRANCH_MS / 1000)
  @Max(MAX_BRANCH_MS / 1000)
  readonly expires_in: number | undefined;
}

export class BranchDiffQuery {
  /** `then` (default): the keys that the branch has changed; `now`: all that differ from the origin now. */
  @IsOptional()
  @IsIn(['then', 'now'])
  readonly against: 'then' | 'now' | undefined;

  /** A glob. Default: all keys. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_GLOB_BYTES)
  readonly keys: string | undefined;

  /** The most keys of the answer. Default: 1000. */
  @IsOptional()
  @IsNumberText(1, MAX_DIFFERENCES)
  readonly limit: string | undefined;
}

export class MergeBranchRequest {
  /** A glob. Default: all keys. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_GLOB_BYTES)
  readonly keys: string | undefined;

  /** The side that wins where both have changed a key. Default: a conflict refuses the merge. */
  @IsOptional()
  @IsIn(['branch', 'origin'])
  readonly prefer: 'branch' | 'origin' | undefined;

  /** True: no key is written. */
  @IsOptional()
  @IsBoolean()
  readonly dry_run: boolean | undefined;
}

export class UndoRequest {
  /** A user, an address, `<user>@<address>`, or a token of the database. */
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_AUTHOR_CHARACTERS)
  readonly by!: string;

  @IsInstant()
  readonly from!: string;

  @IsInstant()
  readonly to!: string;

  /** A glob. Default: all keys. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_GLOB_BYTES)
  readonly keys: string | undefined;

  /** True: no key is written. */
  @IsOptional()
  @IsBoolean()
  readonly dry_run: boolean | undefined;
}
