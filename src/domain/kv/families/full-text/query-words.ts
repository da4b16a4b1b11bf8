/** The options of SEARCH.QUERY. */
import { textOfBytes } from '../../../../kernel/index.js';
import {
  type Column,
  DEFAULT_RESULTS,
  type FieldOrder,
  type IndexContents,
  isOfNumbers,
  KeywordField,
  MAX_RESULT_OFFSET,
  MAX_RESULTS,
  MAX_SCORE_FIELDS,
  MODIFIERS,
  NumberField,
  type ScoreField,
  type ScoreFunction,
  type ScoreMode,
} from '../../../full-text/index.js';
import type { Args } from '../../args.js';
import { ERRORS, ErrorReply } from '../../reply.js';

export interface QueryWords {
  readonly limit: number;
  readonly offset: number;
  readonly hasContent: boolean;
  readonly order: FieldOrder | undefined;
  readonly score: ScoreFunction | undefined;
  /** Paths; undefined: the whole document. */
  readonly selected: readonly string[] | undefined;
  readonly marked: readonly string[];
  readonly tags: readonly [string, string];
}

const badLimit = new ErrorReply(`ERR limit should be a positive number less than ${MAX_RESULTS}`);
const badOffset = new ErrorReply(`ERR offset should be a number from 0 to ${MAX_RESULT_OFFSET}`);
const bothOrders = new ErrorReply('ERR ORDERBY and SCOREFUNC cannot be used together');
const SCORE_MODES: readonly ScoreMode[] = ['MULTIPLY', 'SUM', 'REPLACE'];
const TAGS = ['<em>', '</em>'] as const;

/** @throws ErrorReply */
export function queryWordsOf(args: Args, contents: IndexContents): QueryWords {
  return new QueryReader(args, contents).read();
}

class QueryReader {
  #at = 3;

  constructor(
    private readonly args: Args,
    private readonly contents: IndexContents,
  ) {}

  read(): QueryWords {
    let [limit, offset] = [DEFAULT_RESULTS, 0];
    let hasContent = true;
    let order: FieldOrder | undefined;
    let score: ScoreFunction | undefined;
    let selected: readonly string[] | undefined;
    let marked: readonly string[] = [];
    let tags: readonly [string, string] = TAGS;
    while (this.#at < this.args.length) {
      switch (this.#option()) {
        case 'LIMIT':
          limit = this.#count(1, badLimit);
          if (limit > MAX_RESULTS) throw badLimit;
          break;
        case 'OFFSET':
          offset = this.#count(0, badOffset);
          if (offset > MAX_RESULT_OFFSET) throw badOffset;
          break;
        case 'NOCONTENT':
          hasContent = false;
          break;
        case 'ORDERBY':
          order = this.#order();
          break;
        case 'SCOREFUNC':
          score = this.#scoreFunction();
          break;
        case 'SELECT':
          selected = this.#paths();
          break;
        case 'HIGHLIGHT':
          if (this.#option() !== 'FIELDS') throw ERRORS.syntax;
          marked = this.#paths();
          if (this.#takes('TAGS')) tags = [this.#text(), this.#text()];
          break;
        default:
          throw ERRORS.syntax;
      }
    }
    if (order !== undefined && score !== undefined) throw bothOrders;
    for (const path of marked) this.#requireKnown(path);
    return { limit, offset, hasContent, order, score, selected, marked, tags };
  }

  #order(): FieldOrder {
    const path = this.#text();
    const column = this.#fastColumn(path);
    if (this.#takes('ASC')) return { column, isDescending: false };
    this.#takes('DESC');
    return { column, isDescending: true };
  }

  #scoreFunction(): ScoreFunction {
    let combine: 'MULTIPLY' | 'SUM' = 'MULTIPLY';
    let mode: ScoreMode | undefined;
    let own: ScoreMode | undefined;
    const fields: ScoreField[] = [];
    for (;;) {
      if (this.#takes('COMBINEMODE')) {
        const given = this.#scoreMode();
        if (given === 'REPLACE') throw ERRORS.syntax;
        combine = given;
      } else if (this.#takes('SCOREMODE')) {
        const given = this.#scoreMode();
        // The first one is that of the function; a field has the one before it.
        if (fields.length === 0 && mode === undefined) mode = given;
        else own = given;
      } else if (this.#takes('FIELDVALUE')) {
        fields.push(this.#scoreField(own));
        own = undefined;
        if (fields.length > MAX_SCORE_FIELDS) {
          throw new ErrorReply(`ERR SCOREFUNC has at most ${MAX_SCORE_FIELDS} fields`);
        }
      } else break;
    }
    if (fields.length === 0 || own !== undefined) throw ERRORS.syntax;
    return { combine, mode: mode ?? 'MULTIPLY', fields };
  }

  #scoreField(mode: ScoreMode | undefined): ScoreField {
    const path = this.#text();
    const column = this.#fastColumn(path);
    if (!(column instanceof NumberField) || !isOfNumbers(column.field)) {
      throw new ErrorReply(`ERR SCOREFUNC is for FAST fields with numbers: ${path}`);
    }
    let modifier: keyof typeof MODIFIERS = 'NONE';
    let factor = 1;
    let missing: number | undefined;
    for (;;) {
      if (this.#takes('MODIFIER')) {
        const given = this.#option();
        if (!(given in MODIFIERS)) throw new ErrorReply(`ERR Unknown modifier: ${given}`);
        modifier = given as keyof typeof MODIFIERS;
      } else if (this.#takes('FACTOR')) factor = this.#float();
      else if (this.#takes('MISSING')) missing = this.#float();
      else return { column, modifier, factor, missing, mode };
    }
  }

  #scoreMode(): ScoreMode {
    const given = this.#option();
    const mode = SCORE_MODES.find((known) => known === given);
    if (mode === undefined) throw ERRORS.syntax;
    return mode;
  }

  /** @throws ErrorReply for a field whose values are not kept by document */
  #fastColumn(path: string): Column & (NumberField | KeywordField) {
    const field = this.#requireKnown(path);
    const isColumn = field instanceof NumberField || field instanceof KeywordField;
    // The values of keywords are kept in any case.
    if (isColumn && (field.field.isFast || field.field.type === 'KEYWORD')) return field;
    throw new ErrorReply(`ERR The field is not FAST: ${path}`);
  }

  #requireKnown(path: string) {
    const field = this.contents.field(path);
    if (field === undefined) throw new ErrorReply(`ERR Unknown field: ${path}`);
    return field;
  }

  /** A count, then that many paths. */
  #paths(): string[] {
    const count = this.#count(0, ERRORS.syntax);
    if (count > this.args.length) throw ERRORS.syntax;
    return Array.from({ length: count }, () => this.#text());
  }

  #count(least: 0 | 1, problem: ErrorReply): number {
    const count = this.args.count(this.#at, least, problem);
    this.#at += 1;
    return count;
  }

  #float(): number {
    const value = this.args.float(this.#at);
    this.#at += 1;
    return value;
  }

  #text(): string {
    const word = this.args.bytes(this.#at);
    this.#at += 1;
    return textOfBytes(word);
  }

  #option(): string {
    const word = this.args.option(this.#at);
    this.#at += 1;
    return word;
  }

  /** Takes the next word if it is this one. */
  #takes(word: string): boolean {
    if (this.#at >= this.args.length || this.args.option(this.#at) !== word) return false;
    this.#at += 1;
    return true;
  }
}
