/**
 * The page of the portal, and its look: title, colours, logo and words of the operator's file. The file is read at the
 * first visit; with an unusable file the portal has its usual look, and the log says why.
 */
import { IsObject, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { describeError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import type { Stage } from '../../http/application.js';
import { BuiltFiles } from '../../http/built-files.js';
import { servesPages } from '../../http/built-pages.js';
import { checkedMembers, membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { invalid, RefusedRequest } from '../../http/refused.js';

export const PORTAL_ROOT = '/portal';
/** A logo of some kilobytes and all words. */
const MAX_FILE_BYTES = 256 * 1024;
const COLOUR = /^#[0-9a-f]{6}$/i;
/** Only images in the text itself: the page loads from this server alone. */
const IMAGE = /^data:image\/(png|svg\+xml|jpeg|webp);base64,[A-Za-z0-9+/=]+$/;
const MAX_WORD = 1_000;

class LookFile {
  @IsOptional()
  @MaxLength(100)
  @IsString()
  readonly title: string | undefined;

  @IsOptional()
  @Matches(COLOUR)
  readonly accent: string | undefined;

  @IsOptional()
  @Matches(COLOUR)
  readonly accentDark: string | undefined;

  @IsOptional()
  @Matches(IMAGE, { message: 'logo must be a data: URL of an image in base64' })
  readonly logo: string | undefined;

  @IsOptional()
  @IsObject()
  readonly words: Readonly<Record<string, unknown>> | undefined;
}

export interface PortalLook {
  readonly title?: string | undefined;
  readonly accent?: string | undefined;
  readonly accentDark?: string | undefined;
  readonly logo?: string | undefined;
  readonly words: Readonly<Record<string, string>>;
}

export interface PortalParts {
  /** Origins that may show the portal in a frame. */
  readonly frameAncestors: readonly string[];
  /** A file of the built page by its path in its folder; undefined if missing. */
  readFile(path: string): Promise<Buffer | undefined>;
  /** The operator's file; undefined: there is none. */
  readLook(): Promise<Buffer | undefined>;
}

export class PortalPage {
  readonly serves: Stage;
  #look: Promise<PortalLook> | undefined;

  constructor(
    private readonly parts: PortalParts,
    private readonly log: Log,
    isDraining: () => boolean,
  ) {
    const files = new BuiltFiles((path) => parts.readFile(path));
    const { frameAncestors } = parts;
    this.serves = servesPages(PORTAL_ROOT, { kind: 'application', files, isDraining, frameAncestors });
  }

  look(): Promise<PortalLook> {
    this.#look ??= this.#readLook();
    return this.#look;
  }

  async #readLook(): Promise<PortalLook> {
    try {
      const bytes = await this.parts.readLook();
      return bytes === undefined ? { words: {} } : lookIn(bytes);
    } catch (error) {
      const cause = error instanceof RefusedRequest ? error.refusal.text : describeError(error);
      this.log.warn('portal.file-unusable', { cause });
      return { words: {} };
    }
  }
}

/** @throws Refused 400 for contents that are not a look */
export function lookIn(bytes: Buffer): PortalLook {
  if (bytes.length > MAX_FILE_BYTES) throw invalid(`the file is longer than ${MAX_FILE_BYTES} bytes`);
  const { words = {}, ...look } = checkedMembers(LookFile, membersOf(parseJson(bytes), 'the file'));
  for (const [name, text] of Object.entries(words)) {
    if (typeof text !== 'string' || text.length > MAX_WORD) throw invalid(`words.${name} must be a short string`);
  }
  return { ...look, words: words as Readonly<Record<string, string>> };
}
