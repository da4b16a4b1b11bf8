/** Bodies of `/v2/destinations`: the rules of breakers, and the destination that is enabled or disabled. */
import { IsBoolean, IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import {
  BREAKER_BOUNDS,
  type BreakerRules,
  MAX_URL_BYTES,
  parseDestinationUrl,
  USUAL_BREAKER_RULES,
} from '../../../domain/queue/index.js';
import { invalid } from '../../http/refused.js';
import { fieldsOf, requestOf } from '../../http/request-class.js';

class BreakerRulesRequest {
  @Within('failures')
  readonly failures: number | undefined;

  @Within('seconds')
  readonly seconds: number | undefined;

  @Within('probeSeconds')
  readonly probeSeconds: number | undefined;

  @Within('disableAfterSeconds')
  readonly disableAfterSeconds: number | undefined;

  @IsOptional()
  @IsIn(['wait', 'dlq'])
  readonly messages: BreakerRules['messages'] | undefined;

  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsNotEmpty()
  @IsString()
  readonly notifyUrl: string | undefined;
}

class DestinationRequest {
  @MaxLength(MAX_URL_BYTES)
  @IsNotEmpty()
  @IsString()
  readonly url!: string;

  @IsOptional()
  @IsBoolean()
  readonly retry: boolean | undefined;
}

/** Members that are left out have their usual values. @throws Refused 400, also for an unknown member */
export function breakerRulesIn(members: ReadonlyMap<string, unknown>): BreakerRules {
  const asked = requestOf(BreakerRulesRequest, checkedMembers(BreakerRulesRequest, members));
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  return { ...USUAL_BREAKER_RULES, ...given };
}

/** @throws Refused 400 */
export function destinationIn(members: ReadonlyMap<string, unknown>): { url: string; isRetried: boolean } {
  const { url, retry = false } = requestOf(DestinationRequest, checkedMembers(DestinationRequest, members));
  const parsed = parseDestinationUrl(url, 'destination');
  if (!parsed.isOk) throw invalid(`url: ${parsed.message}`);
  return { url: parsed.url, isRetried: retry };
}

function checkedMembers(type: Parameters<typeof fieldsOf>[0], members: ReadonlyMap<string, unknown>): object {
  const known = fieldsOf(type);
  for (const name of members.keys()) if (!known.includes(name)) throw invalid(`unknown member ${name}`);
  return Object.fromEntries(members);
}

function Within(name: keyof typeof BREAKER_BOUNDS): PropertyDecorator {
  const [least, most] = BREAKER_BOUNDS[name];
  return (target, property) => {
    for (const rule of [IsInt(), Min(least), Max(most), IsOptional()]) rule(target, property);
  };
}
