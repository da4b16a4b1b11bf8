/** One document of `upsert-data`. */
import { IsOptional } from 'class-validator';
import {
  documentProblem,
  encodeDocument,
  isJsonObject,
  type JsonObject,
  type StoredDocument,
  vectorProblem,
} from '../../../domain/search/index.js';
import type { ByteString } from '../../../kernel/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';
import { asId, IsDocumentId, IsJsonObject, IsVector, idProblem } from './rules.js';

export class DocumentRequest {
  @IsDocumentId()
  readonly id: string;

  @IsJsonObject()
  readonly content: JsonObject;

  @IsOptional()
  @IsJsonObject()
  readonly metadata: JsonObject | undefined;

  /** The client's own vector, an extension. */
  @IsOptional()
  @IsVector()
  readonly vector: readonly number[] | undefined;

  /** `null` counts as missing. */
  private constructor(members: ReadonlyMap<string, unknown>) {
    this.id = asId(members.get('id')) as string;
    this.content = members.get('content') as JsonObject;
    this.metadata = (members.get('metadata') ?? undefined) as JsonObject | undefined;
    this.vector = (members.get('vector') ?? undefined) as readonly number[] | undefined;
  }

  /** @param position in the body, from 0. @throws Refused 400 */
  static from(item: unknown, position: number): DocumentRequest {
    const subject = `document ${position}`;
    const request = new DocumentRequest(membersOf(item, subject));
    if (!request.#isPlain) {
      try {
        checked(request);
      } catch (refused) {
        throw invalid(`${subject}: ${(refused as Error).message}`);
      }
    }
    const problem = documentProblem(request.#stored);
    if (problem !== undefined) throw invalid(`${subject}: ${problem}`);
    return request;
  }

  /** The stored text. */
  get text(): ByteString {
    return encodeDocument(this.#stored);
  }

  get #stored(): StoredDocument {
    const { content, metadata, vector } = this;
    return { content, metadata, vector };
  }

  /** Checks the form of nearly all documents directly: the field rules take ten times as long. */
  get #isPlain(): boolean {
    const { id, content, metadata, vector } = this;
    return (
      idProblem('id', id) === undefined &&
      isJsonObject(content) &&
      (metadata === undefined || isJsonObject(metadata)) &&
      (vector === undefined || (Array.isArray(vector) && vectorProblem(vector) === undefined))
    );
  }
}
