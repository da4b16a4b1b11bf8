/** Texts of tokens and passwords, and the hash that stands for one where it is compared. */
import { createHash } from 'node:crypto';
import type { Random } from '../kernel/index.js';

/** 192 bits: far beyond guessing, and 32 characters of base64url without padding. */
const SECRET_BYTES = 24;

/** Prefixes let scanners for leaked secrets and people see what a text opens. */
export type SecretPrefix = 'mrs_' | 'mrr_' | 'mrp_' | 'mrk_' | 'sig_' | '';

/** The prefix, then 192 random bits in base64url: fit for headers, paths and queries as it is. */
export function newSecretText(random: Random, prefix: SecretPrefix = ''): string {
  return prefix + Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
}

/** 64 lower-case hex digits. */
export function hashSecret(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
