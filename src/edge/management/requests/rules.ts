/** Field rules that class-validator does not have, each with its OpenAPI schema. */
import { isEmail, isIpv4Block, MAX_GIVEN_NAME_CHARACTERS } from '../../../domain/control/index.js';
import { describedRule } from '../../http/described-rule.js';

/** A name from a person: 1 to 64 characters without control characters; names need not be unique. */
export function IsGivenName(): PropertyDecorator {
  return describedRule(
    'isName',
    isName,
    `must be 1 to ${MAX_GIVEN_NAME_CHARACTERS} characters without control characters`,
    {
      type: 'string',
      minLength: 1,
      maxLength: MAX_GIVEN_NAME_CHARACTERS,
    },
  );
}

/** Without a colon, because credentials are split at the first one. */
export function IsMailbox(): PropertyDecorator {
  return describedRule('isMailbox', isMailbox, 'must be an e-mail address', { type: 'string', format: 'email' });
}

/** `203.0.113.7` or `203.0.113.0/24`. */
export function AreIpv4Blocks(): PropertyDecorator {
  const areBlocks = (value: unknown) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string' && isIpv4Block(each));
  return describedRule('areIpv4Blocks', areBlocks, 'must be a list of IPv4 addresses or CIDR blocks', {
    type: 'array',
    items: { type: 'string' },
  });
}

/** The latest instant of a query, in Unix seconds. */
export const MAX_SECONDS = 99_999_999_999;

/** An integer in a query, as text. */
export function IsNumberText(least: number, most: number): PropertyDecorator {
  const isInBounds = (value: unknown) =>
    typeof value === 'string' && /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most;
  const schema = { type: 'integer', minimum: least, maximum: most } as const;
  return describedRule(
    `isNumberText-${least}-${most}`,
    isInBounds,
    `must be a number from ${least} to ${most}`,
    schema,
  );
}

function isName(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.length > 2 * MAX_GIVEN_NAME_CHARACTERS) return false;
  return [...value].length <= MAX_GIVEN_NAME_CHARACTERS && !/\p{Cc}|\p{Cs}/u.test(value);
}

function isMailbox(value: unknown): boolean {
  return typeof value === 'string' && isEmail(value) && !value.includes(':');
}
