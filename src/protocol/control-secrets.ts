/** Formats of tokens and passwords, and the hash by which they are compared. */
import { createHash } from 'node:crypto';
import type { Random } from '../kernel/index.js';

/** 192 bits: impossible to guess, and 32 characters of base64url without padding. */
const SECRET_BYTES = 24;

/** A prefix shows people and leak scanners the kind of secret. */
export type SecretPrefix = 'mrs_' | 'mrr_' | 'mrp_' | 'mrk_' | 'mrq_' | 'sig_' | '';

/** The prefix, then 192 random bits in base64url, usable in headers, paths and queries. */
export function newSecretText(random: Random, prefix: SecretPrefix = ''): string {
  return prefix + Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
}

/** 64 lower-case hex digits. */
export function hashSecret(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/**
 * The credentials of the first start in clear text: given by the operator or generated, kept in a private file, never
 * journaled.
 */
export interface FirstStartCredentials {
  readonly kvToken: string;
  readonly kvReadonlyToken: string;
  readonly kvPassword: string;
  readonly queueToken: string;
  readonly queueReadonlyToken: string;
  readonly mgmtEmail: string;
  readonly mgmtKey: string;
  readonly signingKeyCurrent: string;
  readonly signingKeyNext: string;
}

/** The environment variable of each, in display order. */
export const CREDENTIAL_VARIABLES: Readonly<Record<keyof FirstStartCredentials, string>> = {
  kvToken: 'MILLRACE_KV_TOKEN',
  kvReadonlyToken: 'MILLRACE_KV_READONLY_TOKEN',
  kvPassword: 'MILLRACE_KV_PASSWORD',
  queueToken: 'MILLRACE_QUEUE_TOKEN',
  queueReadonlyToken: 'MILLRACE_QUEUE_READONLY_TOKEN',
  mgmtEmail: 'MILLRACE_MGMT_EMAIL',
  mgmtKey: 'MILLRACE_MGMT_KEY',
  signingKeyCurrent: 'MILLRACE_SIGNING_KEY_CURRENT',
  signingKeyNext: 'MILLRACE_SIGNING_KEY_NEXT',
};

export const CREDENTIAL_NAMES = Object.keys(CREDENTIAL_VARIABLES) as readonly (keyof FirstStartCredentials)[];

/** The credentials given by the operator. */
export type GivenCredentials = { readonly [Name in keyof FirstStartCredentials]: string | undefined };

const DEFAULT_EMAIL = 'admin@localhost.localdomain';

/** Generates the credentials that were not given. */
export function completeCredentials(given: Partial<GivenCredentials>, random: Random): FirstStartCredentials {
  return {
    kvToken: given.kvToken ?? newSecretText(random, 'mrs_'),
    kvReadonlyToken: given.kvReadonlyToken ?? newSecretText(random, 'mrr_'),
    kvPassword: given.kvPassword ?? newSecretText(random, 'mrp_'),
    queueToken: given.queueToken ?? newQueueToken(random),
    queueReadonlyToken: given.queueReadonlyToken ?? newSecretText(random, 'mrq_'),
    mgmtEmail: given.mgmtEmail ?? DEFAULT_EMAIL,
    mgmtKey: given.mgmtKey ?? newSecretText(random, 'mrk_'),
    signingKeyCurrent: given.signingKeyCurrent ?? newSecretText(random, 'sig_'),
    signingKeyNext: given.signingKeyNext ?? newSecretText(random, 'sig_'),
  };
}

/** The user named in a queue token. Undefined when the token is not base64 of JSON with a text `UserID`. */
export function userIdIn(token: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64').toString('utf8'));
    if (typeof parsed !== 'object' || parsed === null || !('UserID' in parsed)) return undefined;
    return typeof parsed.UserID === 'string' ? parsed.UserID : undefined;
  } catch {
    return undefined;
  }
}

/** Base64 of JSON: workflow clients read `UserID` from it; the server compares the whole token. */
export function newQueueToken(random: Random): string {
  const hex = Buffer.from(random.bytes(16)).toString('hex');
  const user = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return Buffer.from(JSON.stringify({ UserID: user, Password: newSecretText(random) })).toString('base64');
}
