/** The body of `fetch`: ids, or a prefix of ids. */
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_DOCUMENT_ID_CHARACTERS } from '../../../domain/search/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';
import { MAX_DOCUMENT_IDS } from '../endpoint-limits.js';
import { DocumentParts } from './document-parts.js';
import { asId, IsDocumentIds } from './rules.js';

export class FetchRequest extends DocumentParts {
  @IsOptional()
  @IsDocumentIds(MAX_DOCUMENT_IDS)
  readonly ids: readonly string[] | undefined;

  @IsOptional()
  @MaxLength(MAX_DOCUMENT_ID_CHARACTERS)
  @IsString()
  readonly prefix: string | undefined;

  /** `null` and the empty prefix count as missing. */
  private constructor(members: ReadonlyMap<string, unknown>) {
    super(members);
    this.ids = idsIn(members.get('ids'));
    this.prefix = textIn(members.get('prefix'));
  }

  /** @throws Refused 400 */
  static from(body: unknown): FetchRequest {
    const request = checked(new FetchRequest(membersOf(body)));
    if ((request.ids === undefined) === (request.prefix === undefined))
      throw invalid('exactly one of ids and prefix is needed');
    return request;
  }
}

/** The ids in a body that names documents. */
export function idsIn(ids: unknown): readonly string[] | undefined {
  return (Array.isArray(ids) ? ids.map(asId) : (ids ?? undefined)) as readonly string[] | undefined;
}

/** The empty text counts as missing. */
export function textIn(text: unknown): string | undefined {
  return (text === '' ? undefined : (text ?? undefined)) as string | undefined;
}
