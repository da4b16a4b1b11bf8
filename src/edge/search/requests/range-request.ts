/** The body of `range`, for a page of documents. */
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { MAX_DOCUMENT_ID_CHARACTERS } from '../../../domain/search/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';
import { DEFAULT_RANGE_LIMIT, MAX_RANGE_LIMIT } from '../endpoint-limits.js';
import { DocumentParts } from './document-parts.js';

/** Cursors of the first page. */
const BEGINNINGS: readonly unknown[] = ['', '0', 0];
/** A cursor contains the last shown id. */
const CURSOR = /^after-([A-Za-z0-9_-]+)$/;

export class RangeRequest extends DocumentParts {
  readonly after: string | undefined;

  @Max(MAX_RANGE_LIMIT)
  @Min(1)
  @IsInt()
  readonly limit: number;

  @IsOptional()
  @MaxLength(MAX_DOCUMENT_ID_CHARACTERS)
  @IsString()
  readonly prefix: string;

  private constructor(members: ReadonlyMap<string, unknown>) {
    super(members);
    this.after = idOfCursor(members.get('cursor') ?? '');
    this.limit = (members.get('limit') ?? DEFAULT_RANGE_LIMIT) as number;
    this.prefix = (members.get('prefix') ?? '') as string;
  }

  /** @throws Refused 400 */
  static from(body: unknown): RangeRequest {
    return checked(new RangeRequest(membersOf(Array.isArray(body) && body.length === 0 ? {} : body)));
  }
}

/** @param last id of the page; undefined on the last page */
export function cursorAfter(last: string | undefined): string {
  return last === undefined ? '' : `after-${Buffer.from(last, 'utf8').toString('base64url')}`;
}

function idOfCursor(cursor: unknown): string | undefined {
  if (BEGINNINGS.includes(cursor)) return undefined;
  const [, encoded] = (typeof cursor === 'string' && CURSOR.exec(cursor)) || [];
  if (encoded === undefined) throw invalid('cursor is invalid: give the cursor of an earlier response');
  return Buffer.from(encoded, 'base64url').toString('utf8');
}
