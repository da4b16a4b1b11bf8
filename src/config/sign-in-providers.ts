/** The setting with the identity providers: JSON, because a provider has lists of rules. It may contain secrets. */
import { IsInstance } from 'class-validator';
import { rule, type SettingKind } from './kinds.js';
import { MASK, Secret } from './secret.js';

export interface SignInGroupRole {
  readonly group: string;
  /** A built-in role except `owner`, or an own one of the account. */
  readonly role: string;
  readonly account?: string | undefined;
  /** The id of the only resource that the role is for. */
  readonly on?: string | undefined;
}

export interface SignInProvider {
  readonly name: string;
  readonly label: string;
  readonly issuer: string;
  readonly clientId: string;
  /** The secret, or its place (secret-reference.ts); undefined: a public client. */
  readonly clientSecret?: string | undefined;
  readonly scopes: string;
  /** The claim with the list of groups. */
  readonly groupsClaim: string;
  /** Addresses count as verified without the claim `email_verified`. */
  readonly trustsEmails: boolean;
  readonly roles: readonly SignInGroupRole[];
}

const MAX_PROVIDERS = 16;
const MAX_RULES = 256;
const MAX_TEXT = 512;
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const FIELDS = 'name label issuer clientId clientSecret scopes groupsClaim trustsEmails roles'.split(' ');
const RULE_FIELDS = ['group', 'role', 'account', 'on'];

export function signInProviders(): SettingKind {
  const isRight = (value: unknown) => value instanceof Secret && (value.isReference || parsed(value) !== undefined);
  return {
    accepts: 'a JSON list of objects with name, issuer, clientId and roles',
    rules: [IsInstance(Secret), rule('signInProviders', isRight)],
    read: (given) => new Secret(given),
    write: () => MASK,
    hidesText: true,
    isSecret: true,
  };
}

/** @throws Error that names the wrong field of the provider, without its value */
export function readSignInProviders(secret: Secret | undefined): readonly SignInProvider[] {
  const given = secret === undefined || secret.isReference ? [] : parsed(secret);
  if (given === undefined) throw new Error('the list of providers is no JSON list of objects');
  if (given.length > MAX_PROVIDERS)
    throw new Error(`there are ${given.length} providers, at most ${MAX_PROVIDERS} are possible`);
  const providers = given.map(providerOf);
  const names = providers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two providers have the name ${twice}`);
  return providers;
}

function parsed(secret: Secret): Record<string, unknown>[] | undefined {
  try {
    const given: unknown = JSON.parse(secret.reveal());
    return Array.isArray(given) && given.every(isRecord) ? given : undefined;
  } catch {
    return undefined;
  }
}

function providerOf(given: Record<string, unknown>, at: number): SignInProvider {
  const wrong = (field: string, accepted: string) => new Error(`${field} of provider ${at + 1} must be ${accepted}`);
  const text = (field: string, fallback?: string) => {
    const value = given[field] ?? fallback;
    if (!isText(value)) throw wrong(field, `a text of 1 to ${MAX_TEXT} characters`);
    return value;
  };
  const unknown = Object.keys(given).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw new Error(`provider ${at + 1} has the unknown field ${unknown.slice(0, 32)}`);
  const name = text('name');
  if (!NAME.test(name)) throw wrong('name', 'up to 32 lower-case letters, digits and -');
  const issuer = text('issuer');
  if (!isIssuer(issuer)) throw wrong('issuer', 'an https URL, or an http URL of this machine');
  const trustsEmails = given.trustsEmails ?? false;
  if (typeof trustsEmails !== 'boolean') throw wrong('trustsEmails', 'true or false');
  const roles = given.roles;
  if (!Array.isArray(roles) || roles.length === 0 || roles.length > MAX_RULES || !roles.every(isRule)) {
    throw wrong(
      'roles',
      `1 to ${MAX_RULES} objects with group, role (not owner), for a team account, and for one resource on`,
    );
  }
  return {
    name,
    label: text('label', name),
    issuer,
    clientId: text('clientId'),
    clientSecret: given.clientSecret === undefined ? undefined : text('clientSecret'),
    scopes: text('scopes', 'openid email profile offline_access'),
    groupsClaim: text('groupsClaim', 'groups'),
    trustsEmails,
    roles,
  };
}

function isRule(given: unknown): given is SignInGroupRole {
  if (!isRecord(given) || Object.keys(given).some((field) => !RULE_FIELDS.includes(field))) return false;
  const { group, role, account, on } = given;
  const isRole = isText(role) && role !== 'owner';
  return isText(group) && isRole && [account, on].every((text) => text === undefined || isText(text));
}

/** Tokens over plain HTTP are readable on the way, except within this machine. */
function isIssuer(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, hostname, username } = new URL(given);
  if (username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}

function isText(given: unknown): given is string {
  return typeof given === 'string' && given !== '' && given.length <= MAX_TEXT;
}

function isRecord(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}
