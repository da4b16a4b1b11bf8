/** Expiry of keys: EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT, PERSIST, TTL, PTTL, EXPIRETIME, PEXPIRETIME. */
import type { CommandContext, Handler } from '../../command-spec.js';
import { ErrorReply } from '../../reply.js';
import { type ExpiryUnit, readInstant, removeKey } from '../expire-time.js';

const nxAlone = new ErrorReply('ERR NX and XX, GT or LT options at the same time are not compatible');
const gtOrLt = new ErrorReply('ERR GT and LT options at the same time are not compatible');

interface Conditions {
  nx: boolean;
  xx: boolean;
  gt: boolean;
  lt: boolean;
}

/**
 * EXPIRE key seconds [NX | XX | GT | LT], PEXPIRE, EXPIREAT, PEXPIREAT → 1, or 0 when the key is missing or the
 * condition does not hold. An instant in the past deletes the key.
 */
export function expire(name: string, unit: ExpiryUnit): Handler {
  return (context) => {
    const { args, keyspace, effects, nowMs } = context;
    const key = args.bytes(1);
    const conditions = readConditions(context);
    const expireAtMs = readInstant(context, 2, unit, name);
    if (keyspace.fetch(key) === undefined) return 0;
    const present = keyspace.expiryOf(key);
    if (!allows(conditions, present, expireAtMs)) return 0;
    if (expireAtMs <= nowMs) {
      removeKey(context, key);
    } else if (present !== expireAtMs) {
      keyspace.expireAt(key, expireAtMs);
      effects.push('PEXPIREAT', key, String(expireAtMs));
    }
    if (expireAtMs > nowMs) context.notify('g', 'expire', key);
    return 1;
  };
}

/** A key without an expiry counts as expiring after every instant. */
function allows({ nx, xx, gt, lt }: Conditions, present: number | undefined, wantedMs: number): boolean {
  if (nx && present !== undefined) return false;
  if (xx && present === undefined) return false;
  if (gt && (present === undefined || wantedMs <= present)) return false;
  return !(lt && present !== undefined && wantedMs >= present);
}

function readConditions({ args }: CommandContext): Conditions {
  const conditions = { nx: false, xx: false, gt: false, lt: false };
  for (let i = 3; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'NX') conditions.nx = true;
    else if (option === 'XX') conditions.xx = true;
    else if (option === 'GT') conditions.gt = true;
    else if (option === 'LT') conditions.lt = true;
    else throw new ErrorReply(`ERR Unsupported option ${args.bytes(i)}`);
  }
  const { nx, xx, gt, lt } = conditions;
  if (nx && (xx || gt || lt)) throw nxAlone;
  if (gt && lt) throw gtOrLt;
  return conditions;
}

/** PERSIST key → 1 if an expiry was removed, 0 otherwise. */
export const persist: Handler = ({ args, keyspace, effects, notify }) => {
  const key = args.bytes(1);
  if (keyspace.fetch(key) === undefined || !keyspace.persist(key)) return 0;
  effects.push('PERSIST', key);
  notify('g', 'persist', key);
  return 1;
};

/** TTL, PTTL key → time left, rounded to the nearest unit; −1 without expiry, −2 if missing. */
export function timeLeft(unitMs: 1 | 1000): Handler {
  return ({ args, keyspace, nowMs }) => {
    const key = args.bytes(1);
    if (!keyspace.exists(key)) return -2;
    const expireAtMs = keyspace.expiryOf(key);
    return expireAtMs === undefined ? -1 : inUnits(expireAtMs - nowMs, unitMs);
  };
}

/** EXPIRETIME, PEXPIRETIME key → the instant since the epoch; −1 without expiry, −2 if missing. */
export function expiryInstant(unitMs: 1 | 1000): Handler {
  return ({ args, keyspace }) => {
    const key = args.bytes(1);
    if (!keyspace.exists(key)) return -2;
    const expireAtMs = keyspace.expiryOf(key);
    return expireAtMs === undefined ? -1 : inUnits(expireAtMs, unitMs);
  };
}

function inUnits(ms: number, unitMs: 1 | 1000): number {
  return unitMs === 1 ? ms : Math.floor((ms + 500) / 1000);
}
