/** Full-text indexes over documents of fields: their contents in memory, filters, orders and aggregations. Pure. */
export { type AggregationResult, NamedResults } from './aggregation.js';
export { parseAggregations } from './aggregation-parser.js';
export { resultsOf } from './aggregation-results.js';
export { decodedStates, encodedStates, joinedStates } from './aggregation-states.js';
export { collectedStates } from './aggregations.js';
export * from './definition.js';
export { DocumentHash, hashOfValues } from './document-hash.js';
export { FilterEvaluation } from './evaluation.js';
export type { FieldValue, Scalar } from './field-values.js';
export type { DocumentFilter } from './filter.js';
export { parseFilter } from './filter-parser.js';
export { IndexContents, isOfNumbers } from './index-contents.js';
export type { FilterJson } from './json.js';
export * from './limits.js';
export {
  bestOf,
  type FieldOrder,
  MODIFIERS,
  orderedBy,
  type RankedDocument,
  type ScoreField,
  type ScoreFunction,
  type ScoreMode,
  withFunction,
} from './result-order.js';
export { dependsOnStatistics, SharedStatistics, statisticsFor } from './statistics.js';
export { DEFAULT_LANGUAGE, LANGUAGES } from './stemmers.js';
export { TextField } from './text-field.js';
export { type Column, KeywordField, NumberField } from './value-fields.js';
