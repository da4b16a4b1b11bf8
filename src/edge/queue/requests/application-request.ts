/** Bodies of calls about applications: each class has the members that a caller may give. */
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { MAX_EMAIL_CHARACTERS } from '../../../domain/control/index.js';
import {
  canonicalHeaderName,
  type HeaderList,
  headerListProblem,
  MAX_APPLICATION_METADATA,
  MAX_APPLICATION_TEXT,
  MAX_ENDPOINT_EVENT_TYPES,
  MAX_ENDPOINT_FILTER_CHARACTERS,
  MAX_EVENT_ID_CHARACTERS,
  MAX_EVENT_SCHEMA_BYTES,
  MAX_EVENT_TYPE_CHARACTERS,
  MAX_FLOW_PERIOD_SECONDS,
  MAX_SECRET_KEEP_MS,
  MAX_URL_BYTES,
  outgoingHeaderProblem,
  parseDurationSeconds,
  parseWholeNumber,
  SIGNATURE_VERSIONS,
} from '../../../domain/queue/index.js';
import { bytesOfText, isMillraceError } from '../../../kernel/index.js';
import { checkedMembers, membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { invalid } from '../../http/refused.js';
import type { ClassOf } from '../../http/request-class.js';
import { MAX_REPLAYS } from '../queue-limits.js';

const EVENT_TYPE = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** The signed text has a dot after the id. */
const EVENT_ID = /^[A-Za-z0-9_:-]+$/;
const UID = /^[A-Za-z0-9_:@.-]*$/;
/** Without the characters by which programs of mail tell several addresses or names apart, and at a host name. */
const ONE_MAILBOX = /^(?:[^\s\p{Cc}@"<>()[\]\\,;:]+@[\p{L}\p{M}\p{N}.-]+)?$/u;
const MAX_STARTS_PER_PERIOD = 1_000_000;
/** The headers of the signature, which an endpoint cannot set. */
const OWN_HEADER = /^webhook-/i;

export class ApplicationRequest {
  @IsOptional()
  @MaxLength(MAX_APPLICATION_TEXT)
  @IsString()
  readonly name: string | undefined;

  /** Of no characters: none. */
  @IsOptional()
  @Matches(UID, { message: 'uid may have letters, digits and _ : @ . - only' })
  @MaxLength(MAX_APPLICATION_TEXT)
  @IsString()
  readonly uid: string | undefined;

  @IsOptional()
  @IsObject()
  readonly metadata: Readonly<Record<string, unknown>> | undefined;

  /** Messages started per period; 0: no limit. */
  @IsOptional()
  @Max(MAX_STARTS_PER_PERIOD)
  @Min(0)
  @IsInt()
  readonly rate: number | undefined;

  @IsOptional()
  @Max(MAX_FLOW_PERIOD_SECONDS)
  @Min(1)
  @IsInt()
  readonly ratePeriodSeconds: number | undefined;

  /** Of no characters: none. */
  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly notifyUrl: string | undefined;

  /** Of no characters: none. */
  @IsOptional()
  @Matches(ONE_MAILBOX, { message: 'email must be one e-mail address' })
  @MaxLength(MAX_EMAIL_CHARACTERS)
  @IsString()
  readonly email: string | undefined;
}

export class EndpointChangesRequest {
  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly url: string | undefined;

  @IsOptional()
  @MaxLength(MAX_APPLICATION_TEXT)
  @IsString()
  readonly description: string | undefined;

  @IsOptional()
  @Matches(EVENT_TYPE, { each: true })
  @ArrayMaxSize(MAX_ENDPOINT_EVENT_TYPES)
  @IsArray()
  readonly eventTypes: string[] | undefined;

  @IsOptional()
  @MaxLength(MAX_ENDPOINT_FILTER_CHARACTERS)
  @IsString()
  readonly filter: string | undefined;

  @IsOptional()
  @IsObject()
  readonly headers: Readonly<Record<string, unknown>> | undefined;

  @IsOptional()
  @IsBoolean()
  readonly disabled: boolean | undefined;
}

export class NewEndpointRequest extends EndpointChangesRequest {
  @IsOptional()
  @IsString()
  readonly secret: string | undefined;

  @IsOptional()
  @IsIn(SIGNATURE_VERSIONS, { each: true })
  @ArrayMaxSize(SIGNATURE_VERSIONS.length)
  @IsArray()
  readonly signatures: (typeof SIGNATURE_VERSIONS)[number][] | undefined;
}

export class RotationRequest {
  @IsOptional()
  @IsIn(SIGNATURE_VERSIONS)
  readonly version: (typeof SIGNATURE_VERSIONS)[number] | undefined;

  @IsOptional()
  @IsString()
  readonly secret: string | undefined;

  @IsOptional()
  @Max(MAX_SECRET_KEEP_MS / 1000)
  @Min(0)
  @IsInt()
  readonly keepSeconds: number | undefined;
}

export class EventTypeRequest {
  @IsOptional()
  @Matches(EVENT_TYPE, { message: 'name may have letters, digits, periods, hyphens and underscores only' })
  @MaxLength(MAX_EVENT_TYPE_CHARACTERS)
  @IsString()
  readonly name: string | undefined;

  @IsOptional()
  @MaxLength(MAX_APPLICATION_TEXT)
  @IsString()
  readonly description: string | undefined;

  @IsOptional()
  @IsObject()
  readonly schema: object | undefined;

  @IsOptional()
  @IsArray()
  readonly examples: unknown[] | undefined;

  @IsOptional()
  @IsBoolean()
  readonly archived: boolean | undefined;
}

export class EventRequest {
  @Matches(EVENT_TYPE)
  @MaxLength(MAX_EVENT_TYPE_CHARACTERS)
  @IsString()
  readonly eventType!: string;

  @IsOptional()
  readonly payload: unknown;

  @IsOptional()
  @Matches(EVENT_ID, { message: 'eventId may have letters, digits and _ : - only' })
  @MaxLength(MAX_EVENT_ID_CHARACTERS)
  @IsString()
  readonly eventId: string | undefined;
}

export class ReplayRequest {
  @IsOptional()
  @IsString({ each: true })
  @ArrayMaxSize(MAX_REPLAYS)
  @ArrayMinSize(1)
  @IsArray()
  readonly messageIds: string[] | undefined;

  @IsOptional()
  @IsString()
  readonly endpointId: string | undefined;

  @IsOptional()
  @Min(0)
  @IsInt()
  readonly from: number | undefined;

  @IsOptional()
  @Min(0)
  @IsInt()
  readonly to: number | undefined;

  @IsOptional()
  @IsIn(['failed', 'all'])
  readonly which: 'failed' | 'all' | undefined;

  @IsOptional()
  @Max(MAX_REPLAYS)
  @Min(1)
  @IsInt()
  readonly count: number | undefined;

  @IsOptional()
  @IsString()
  readonly cursor: string | undefined;
}

export class PortalRequest {
  @IsOptional()
  readonly expiresIn: unknown;

  @IsOptional()
  @IsBoolean()
  readonly readOnly: boolean | undefined;
}

export class RevokedLinkRequest {
  /** The id of a link, its token or its URL. */
  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly link: string | undefined;
}

export class EnableRequest {
  @IsOptional()
  @IsBoolean()
  readonly replay: boolean | undefined;
}

export class TestRequest {
  @IsOptional()
  @Matches(EVENT_TYPE)
  @MaxLength(MAX_EVENT_TYPE_CHARACTERS)
  @IsString()
  readonly eventType: string | undefined;
}

/** A body of this class; no body has no members. @throws Refused 400 */
export function bodyOf<Request extends object>(type: ClassOf<Request>, body: Buffer): Request {
  return checkedMembers(type, body.length === 0 ? new Map<string, unknown>() : membersOf(parseJson(body)));
}

/** Pairs of texts, as stored. @throws Refused 400 */
export function metadataOf(given: ApplicationRequest['metadata']): HeaderList | undefined {
  if (given === undefined) return undefined;
  const pairs = Object.entries(given).map(([name, value]): [string, string] => {
    if (typeof value !== 'string') throw invalid(`metadata.${name} must be a string`);
    if (name.length + value.length > 2 * MAX_APPLICATION_TEXT) throw invalid(`metadata.${name} is too long`);
    return [name, value];
  });
  if (pairs.length > MAX_APPLICATION_METADATA) {
    throw invalid(`metadata must have at most ${MAX_APPLICATION_METADATA} members`);
  }
  return pairs;
}

/** Headers of an endpoint as they are sent. @throws Refused 400 */
export function endpointHeaderOf(given: EndpointChangesRequest['headers']): HeaderList | undefined {
  if (given === undefined) return undefined;
  const header = Object.entries(given).map(([name, value]): [string, string] => {
    if (typeof value !== 'string') throw invalid(`headers.${name} must be a string`);
    if (OWN_HEADER.test(name)) throw invalid(`headers.${name} is part of the signature`);
    const bytes = bytesOfText(value);
    const problem = outgoingHeaderProblem(name.toLowerCase(), bytes);
    if (problem !== undefined) throw invalid(`headers.${name}: ${problem}`);
    return [canonicalHeaderName(name), bytes];
  });
  const problem = headerListProblem(header);
  if (problem !== undefined) throw invalid(`headers: ${problem}`);
  return header;
}

/** The JSON text of a part of an event type. @throws Refused 400 */
export function textOfJson(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > MAX_EVENT_SCHEMA_BYTES) {
    throw invalid(`${name} is longer than ${MAX_EVENT_SCHEMA_BYTES} bytes`);
  }
  return text;
}

/** Seconds from a duration like `1h`, or from a number. @throws Refused 400 */
export function secondsOf(name: string, given: unknown, most: number): number | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  const seconds = parseWholeNumber(text) ?? parseDurationSeconds(text);
  if (seconds === undefined || seconds < 1 || seconds > most) {
    throw invalid(`${name} must be a duration like 1h, or seconds, from 1 to ${most}`);
  }
  return seconds;
}

/** Runs a check of the caller's value, which throws the MillraceError INVALID. @throws Refused 400 */
export function judged<Result>(prefix: string, judge: () => Result): Result {
  try {
    return judge();
  } catch (error) {
    if (isMillraceError(error, 'INVALID')) throw invalid(`${prefix}${error.message}`);
    throw error;
  }
}
