/**
 * Rows shared by many messages, with reference counts: accounts, envelopes with their profiles, bodies. Counts are
 * collected during a transaction and written by `flush` at its end, so that a thousand messages with one envelope
 * cost one update. Caches of this object are valid only after successful transactions; call `forget` after a failed
 * one.
 */
import { createHash } from 'node:crypto';
import { type CarriedBody, type Envelope, KEPT_RESPONSE_BYTES, type QueueEventOf } from '../../domain/queue/index.js';
import { type AccountId, assert, BoundedCache, getOrCreate } from '../../kernel/index.js';
import type { SqlFile, SqlValue } from '../../ports/index.js';
import { AddedRows } from '../added-rows.js';
import { type Prepared, prepared } from '../statements.js';
import { encodeEnvelope } from './envelope-bytes.js';
import { FACETS, profileOf } from './facets.js';
import { bodyId } from './schema.js';

export interface EnvelopeRow {
  readonly id: number;
  readonly account: number;
  readonly profile: number;
}

/** Cached envelopes by their bytes; beyond this they are looked up again. */
const MAX_REMEMBERED = 20_000;
/** Longer bodies are inserted alone, because a running statement holds its parameters twice. */
const LONG_BODY_BYTES = 16 * 1024;

export class SharedRows {
  readonly #accounts = new Map<string, number>();
  #byObject = new WeakMap<Envelope, EnvelopeRow>();
  readonly #byHash = new BoundedCache<string, EnvelopeRow>(MAX_REMEMBERED);
  readonly #envelopeRefs = new Map<number, number>();
  readonly #bodyRefs = new Map<number, number>();
  /** Bytes of answers to successful attempts, by account. */
  readonly #answerBytes = new Map<number, number>();
  readonly #bodies: AddedRows;
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
    this.#bodies = new AddedRows(file, 'INSERT INTO bodies', 3, 'ON CONFLICT (id) DO UPDATE SET refs = refs + 1');
  }

  account(name: AccountId): number {
    const known = this.#accounts.get(name) ?? (this.#sql.findAccount.get([name])?.id as number | undefined);
    const id = known ?? this.#sql.addAccount.insert([name]);
    this.#accounts.set(name, id);
    return id;
  }

  /** Adds a reference to the envelope. */
  takeEnvelope(account: number, envelope: Envelope): EnvelopeRow {
    let shared = this.#byObject.get(envelope);
    if (shared?.account !== account) {
      shared = this.#envelopeByBytes(account, envelope);
      this.#byObject.set(envelope, shared);
    }
    count(this.#envelopeRefs, shared.id, 1);
    return shared;
  }

  releaseEnvelope(id: number): void {
    count(this.#envelopeRefs, id, -1);
  }

  /**
   * Adds a reference to the body, stored now or before.
   * @returns the body's id, 0 for an empty one
   */
  takeBody(account: number, { number, content }: Pick<CarriedBody, 'number' | 'content'>): number {
    if (number === 0) return 0;
    const id = bodyId(account, number);
    if (content === undefined) count(this.#bodyRefs, id, 1);
    else this.#addBody(id, content);
    return id;
  }

  #addBody(id: number, content: Uint8Array): void {
    const isLong = content.length > LONG_BODY_BYTES;
    if (isLong) this.#bodies.flush();
    this.#bodies.add(id, 1, content);
    if (isLong) this.#bodies.flush();
  }

  /** Stores a body for rows that follow. */
  keepBody(account: number, number: number, content: Uint8Array): void {
    this.#sql.keepBody.run([bodyId(account, number), content]);
  }

  /**
   * Removes bodies that no row refers to.
   * @returns the start of the next step; undefined at the end
   */
  dropUnused(account: number, after: number, count: number): number | undefined {
    const rows = this.#sql.someBodies.all([bodyId(account, after), bodyId(account + 1, 0), count]);
    for (const { id } of rows) this.#sql.dropBody.run([id as number]);
    const last = rows.at(-1)?.id as number | undefined;
    return last === undefined || rows.length < count ? undefined : last - bodyId(account, 0);
  }

  releaseBody(id: number): void {
    if (id !== 0) count(this.#bodyRefs, id, -1);
  }

  hasBody(account: number, number: number): boolean {
    return number === 0 || this.#sql.findBody.get([bodyId(account, number)]) !== undefined;
  }

  /** Stores the kept part of a failed attempt's response; one row refers to it. */
  addResponse({ status, header, response, durationMs }: QueueEventOf<'AttemptFailed'>): number {
    const kept = response.subarray(0, KEPT_RESPONSE_BYTES);
    return this.#sql.addResponse.insert([status, JSON.stringify(header), kept, 0, durationMs]);
  }

  /** Stores the kept answer to a successful attempt, which counts for its account; one row refers to it. */
  addAnswer(account: number, { status, durationMs, answer }: QueueEventOf<'MessageDelivered'>): number | undefined {
    if (answer === undefined) return undefined;
    const header = JSON.stringify(answer.header);
    count(this.#answerBytes, account, Buffer.byteLength(header) + answer.body.byteLength);
    return this.#sql.addResponse.insert([status, header, answer.body, answer.isCut ? 1 : 0, durationMs]);
  }

  dropResponse(id: SqlValue | undefined): void {
    if (typeof id === 'number') this.#sql.dropResponse.run([id]);
  }

  /** @returns the bytes that no longer count */
  dropAnswer(account: number, id: SqlValue | undefined): number {
    if (typeof id !== 'number') return 0;
    const bytes = (this.#sql.responseBytes.get([id])?.bytes as number | undefined) ?? 0;
    this.#sql.dropResponse.run([id]);
    this.#sql.countAnswers.run([-bytes, account]);
    return bytes;
  }

  /** Writes the counts and removes rows without references. */
  flush(): void {
    this.#bodies.flush();
    for (const [id, delta] of this.#bodyRefs) {
      if (delta !== 0) this.#sql.countBody.run([delta, id]);
      if (delta < 0) this.#sql.dropBody.run([id]);
    }
    this.#bodyRefs.clear();
    for (const [account, bytes] of this.#answerBytes) this.#sql.countAnswers.run([bytes, account]);
    this.#answerBytes.clear();
    let isShorter = false;
    for (const [id, delta] of this.#envelopeRefs) {
      if (delta !== 0) this.#sql.countEnvelope.run([delta, id]);
      if (delta < 0) isShorter = this.#dropUnusedEnvelope(id) || isShorter;
    }
    this.#envelopeRefs.clear();
    // Cached envelopes may now be deleted rows.
    if (isShorter) this.#forgetEnvelopes();
  }

  forget(): void {
    this.#accounts.clear();
    this.#bodies.forget();
    this.#bodyRefs.clear();
    this.#answerBytes.clear();
    this.#envelopeRefs.clear();
    this.#forgetEnvelopes();
  }

  #forgetEnvelopes(): void {
    this.#byObject = new WeakMap();
    this.#byHash.clear();
  }

  #envelopeByBytes(account: number, envelope: Envelope): EnvelopeRow {
    const bytes = encodeEnvelope(envelope);
    const hash = createHash('sha256').update(`${account} `).update(bytes).digest();
    const key = hash.toString('latin1');
    return getOrCreate(this.#byHash, key, () => {
      const row = this.#sql.findEnvelope.get([hash]);
      if (row === undefined) return this.#addEnvelope(account, envelope, hash, bytes);
      return { id: row.id as number, account, profile: row.profile as number };
    });
  }

  #addEnvelope(account: number, envelope: Envelope, hash: Uint8Array, bytes: Uint8Array): EnvelopeRow {
    const profile = this.#takeProfile(account, envelope);
    return { id: this.#sql.addEnvelope.insert([hash, profile, bytes]), account, profile };
  }

  #takeProfile(account: number, envelope: Envelope): number {
    const profile = profileOf(envelope);
    const facets = JSON.stringify(profile);
    const hash = createHash('sha256').update(`${account} ${facets}`).digest();
    const known = this.#sql.findProfile.get([hash]);
    if (known !== undefined) {
      this.#sql.countProfile.run([1, known.id as number]);
      return known.id as number;
    }
    const id = this.#sql.addProfile.insert([account, hash, facets]);
    for (const facet of FACETS.keys()) {
      for (const value of profile[facet] ?? []) this.#sql.addFacet.run([account, facet, value, id]);
    }
    return id;
  }

  #dropUnusedEnvelope(id: number): boolean {
    const row = this.#sql.readEnvelope.get([id]);
    assert(row !== undefined, 'an envelope was dropped while something referred to it', { id });
    if ((row.refs as number) > 0) return false;
    this.#sql.dropEnvelope.run([id]);
    this.#releaseProfile(row.profile as number);
    return true;
  }

  #releaseProfile(id: number): void {
    this.#sql.countProfile.run([-1, id]);
    const row = this.#sql.readProfile.get([id]);
    if (row === undefined || (row.refs as number) > 0) return;
    const profile = JSON.parse(row.facets as string) as readonly (readonly string[])[];
    for (const [facet, values] of profile.entries()) {
      for (const value of values) this.#sql.dropFacet.run([row.account as number, facet, value, id]);
    }
    this.#sql.dropProfile.run([id]);
  }
}

const STATEMENTS = {
  findAccount: 'SELECT id FROM accounts WHERE name = ?',
  addAccount: 'INSERT INTO accounts (name, events) VALUES (?, 0)',
  findEnvelope: 'SELECT id, profile FROM envelopes WHERE hash = ?',
  readEnvelope: 'SELECT profile, refs FROM envelopes WHERE id = ?',
  addEnvelope: 'INSERT INTO envelopes (hash, profile, refs, bytes) VALUES (?, ?, 0, ?)',
  countEnvelope: 'UPDATE envelopes SET refs = refs + ? WHERE id = ?',
  dropEnvelope: 'DELETE FROM envelopes WHERE id = ?',
  findProfile: 'SELECT id FROM profiles WHERE hash = ?',
  readProfile: 'SELECT account, refs, facets FROM profiles WHERE id = ?',
  addProfile: 'INSERT INTO profiles (account, hash, refs, facets) VALUES (?, ?, 1, ?)',
  countProfile: 'UPDATE profiles SET refs = refs + ? WHERE id = ?',
  dropProfile: 'DELETE FROM profiles WHERE id = ?',
  addFacet: 'INSERT OR IGNORE INTO profile_facets (account, facet, value, profile) VALUES (?, ?, ?, ?)',
  dropFacet: 'DELETE FROM profile_facets WHERE account = ? AND facet = ? AND value = ? AND profile = ?',
  findBody: 'SELECT refs FROM bodies WHERE id = ?',
  keepBody: 'INSERT OR IGNORE INTO bodies (id, refs, content) VALUES (?, 0, ?)',
  countBody: 'UPDATE bodies SET refs = refs + ? WHERE id = ?',
  someBodies: 'SELECT id FROM bodies WHERE id > ? AND id < ? ORDER BY id LIMIT ?',
  dropBody: 'DELETE FROM bodies WHERE id = ? AND refs <= 0',
  addResponse: 'INSERT INTO responses (status, header, body, is_cut, duration_ms) VALUES (?, ?, ?, ?, ?)',
  responseBytes: 'SELECT length(CAST(header AS BLOB)) + length(body) AS bytes FROM responses WHERE id = ?',
  countAnswers: 'UPDATE accounts SET answer_bytes = answer_bytes + ? WHERE id = ?',
  dropResponse: 'DELETE FROM responses WHERE id = ?',
} as const;

function count(counts: Map<number, number>, id: number, delta: number): void {
  counts.set(id, (counts.get(id) ?? 0) + delta);
}
