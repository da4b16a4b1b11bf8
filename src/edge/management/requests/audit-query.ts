/** Filters of the audit log. Default: all entries. */
import { IsOptional, IsString, IsUUID } from 'class-validator';
import { MAX_AUDIT_PAGE } from '../../../domain/control/index.js';
import type { AuditLogAnswer } from '../answers/people-answers.js';
import { IsNumberText, MAX_SECONDS } from './rules.js';

export class AuditQuery {
  /** The actor's e-mail. */
  @IsOptional()
  @IsString()
  readonly actor: string | undefined;

  /** A number, or its text. */
  @IsOptional()
  @IsString()
  readonly action: string | undefined;

  /** A part of one of the entry's three object names, in any case of letters. */
  @IsOptional()
  @IsString()
  readonly entity: string | undefined;

  /** Unix seconds, inclusive. */
  @IsOptional()
  @IsNumberText(0, MAX_SECONDS)
  readonly from: string | undefined;

  @IsOptional()
  @IsNumberText(0, MAX_SECONDS)
  readonly to: string | undefined;

  /** `log_id` of the last entry of the previous page. */
  @IsOptional()
  @IsUUID('all')
  readonly cursor: string | undefined;

  /** The most entries of the answer. */
  @IsOptional()
  @IsNumberText(1, MAX_AUDIT_PAGE)
  readonly count: string | undefined;
}

/** @param entries newest first; a cursor may be an entry that was removed */
export function* auditPage(entries: Iterable<AuditLogAnswer>, query: AuditQuery): Iterable<AuditLogAnswer> {
  const { actor, action, entity, cursor } = query;
  const [from, to] = [Number(query.from ?? 0), Number(query.to ?? MAX_SECONDS)];
  const wanted = entity?.toLowerCase();
  let left = Number(query.count ?? MAX_AUDIT_PAGE);
  for (const entry of entries) {
    const about = [entry.entity, entry.secondary_entity, entry.third_entity];
    // Ids grow with time.
    if (cursor !== undefined && entry.log_id >= cursor.toLowerCase()) continue;
    if (actor !== undefined && entry.actor.toLowerCase() !== actor.toLowerCase()) continue;
    if (action !== undefined && !isAction(entry, action)) continue;
    if (wanted !== undefined && !about.some((text) => text.toLowerCase().includes(wanted))) continue;
    if (entry.timestamp < from || entry.timestamp > to) continue;
    yield entry;
    left -= 1;
    if (left === 0) return;
  }
}

function isAction({ action, action_string: text }: AuditLogAnswer, wanted: string): boolean {
  return String(action) === wanted || text.toLowerCase() === wanted.toLowerCase();
}
