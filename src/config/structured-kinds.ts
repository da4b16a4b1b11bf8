/**
 * Kinds of settings with several values in one text: retention, wire alias. They keep KI1 (`read` never throws), KI2
 * (`read` reverses `write`) and KI3 (no control characters) of kinds.ts.
 */
import { IsObject } from 'class-validator';
import { readBytes, type SettingKind, writeBytes } from './kinds.js';

/** How long history stays readable: until the first of its limits is reached. A missing limit has no effect. */
export interface AuditRetentionSetting {
  readonly ageMs: number | undefined;
  /** Journal bytes per shard. */
  readonly bytes: number | undefined;
}

const AGE_UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

export function retention(): SettingKind {
  return {
    accepts: 'an age (7d, 12h, 30m, 90s), bytes a shard (10GiB), or both as 7d,10GiB',
    rules: [IsObject()],
    read: (given) => readRetention(given) ?? given,
    write: (value) => {
      const { ageMs, bytes: size } = value as AuditRetentionSetting;
      return [ageMs === undefined ? [] : writeAge(ageMs), size === undefined ? [] : writeBytes(size)].flat().join(',');
    },
  };
}

function readRetention(given: string): AuditRetentionSetting | undefined {
  let ageMs: number | undefined;
  let size: number | undefined;
  for (const part of given.split(',').map((item) => item.trim())) {
    const age = /^(\d{1,9})([dhms])$/.exec(part);
    const read = age ? Number(age[1]) * (AGE_UNITS[age[2] as string] as number) : readBytes(part);
    if (read === undefined || (age ? ageMs : size) !== undefined) return undefined;
    if (age) ageMs = read;
    else size = read;
  }
  return { ageMs, bytes: size };
}

function writeAge(ageMs: number): string {
  for (const [unit, size] of Object.entries(AGE_UNITS)) {
    if (ageMs >= size && ageMs % size === 0) return `${ageMs / size}${unit}`;
  }
  return `${ageMs / 1000}s`;
}

/** The words of the alias spelling that endpoints accept. */
export interface WireAlias {
  readonly headerWord: string;
  readonly queueWord: string;
  readonly kvWord: string;
  /** Undefined: the only field with it keeps its neutral name. */
  readonly partnerWord?: string | undefined;
}

export function wireAlias(): SettingKind {
  return {
    accepts: 'three words as Header:queue:kv, or four with :partner, of letters and digits, beginning with a letter',
    rules: [IsObject()],
    read: (given) => {
      const match =
        /^([A-Za-z][A-Za-z0-9]{0,31}):([A-Za-z][A-Za-z0-9]{0,31}):([a-z][a-z0-9]{0,31})(?::([a-z][a-z0-9]{0,31}))?$/.exec(
          given,
        );
      if (match === null) return given;
      const [, headerWord, queueWord, kvWord, partnerWord] = match;
      return { headerWord, queueWord, kvWord, ...(partnerWord && { partnerWord }) };
    },
    write: (value) => {
      const { headerWord, queueWord, kvWord, partnerWord } = value as WireAlias;
      return [headerWord, queueWord, kvWord, ...(partnerWord === undefined ? [] : [partnerWord])].join(':');
    },
  };
}
