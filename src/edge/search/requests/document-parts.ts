/** The parts of documents in an answer, for `fetch` and `range`. */
import { IsBoolean } from 'class-validator';
import type { FoundDocument } from '../document-store.js';

export class DocumentParts {
  @IsBoolean()
  readonly includeData: boolean;

  @IsBoolean()
  readonly includeMetadata: boolean;

  /** Shows the client's own vectors, an extension. */
  @IsBoolean()
  readonly includeVectors: boolean;

  protected constructor(members: ReadonlyMap<string, unknown>) {
    this.includeData = (members.get('includeData') ?? false) as boolean;
    this.includeMetadata = (members.get('includeMetadata') ?? false) as boolean;
    this.includeVectors = (members.get('includeVectors') ?? false) as boolean;
  }

  /** A document without metadata has no such member. */
  shown({ id, content, metadata, vector }: FoundDocument): unknown {
    return {
      id,
      content: this.includeData ? content : undefined,
      metadata: this.includeMetadata ? metadata : undefined,
      vector: this.includeVectors ? vector : undefined,
    };
  }
}
