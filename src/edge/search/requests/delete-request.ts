/** The body of `delete`: ids, what ids begin with, or a filter. A bare array is one of ids. */
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_DOCUMENT_ID_CHARACTERS, MAX_FILTER_CHARACTERS } from '../../../domain/search/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';
import { MAX_DOCUMENT_IDS } from '../face-limits.js';
import { idsIn, textIn } from './fetch-request.js';
import { IsDocumentIds } from './rules.js';

export class DeleteRequest {
  @IsOptional()
  @IsDocumentIds(MAX_DOCUMENT_IDS)
  readonly ids: readonly string[] | undefined;

  @IsOptional()
  @MaxLength(MAX_DOCUMENT_ID_CHARACTERS)
  @IsString()
  readonly prefix: string | undefined;

  @IsOptional()
  @MaxLength(MAX_FILTER_CHARACTERS)
  @IsString()
  readonly filter: string | undefined;

  /** `null` and the empty text count as left out: neither may come to mean every document. */
  private constructor(members: ReadonlyMap<string, unknown>) {
    this.ids = idsIn(members.get('ids'));
    this.prefix = textIn(members.get('prefix'));
    this.filter = textIn(members.get('filter'));
  }

  /** @throws Refused 400 */
  static from(body: unknown): DeleteRequest {
    const request = checked(new DeleteRequest(membersOf(Array.isArray(body) ? { ids: body } : body)));
    const given = [request.ids, request.prefix, request.filter].filter((part) => part !== undefined);
    if (given.length !== 1) throw invalid('exactly one of ids, prefix and filter is needed');
    return request;
  }
}
