/** What an operator may have done with the read models that this process keeps. */

export const READ_MODEL_NAMES = ['messages', 'statistics', 'search'] as const;
export type ReadModelName = (typeof READ_MODEL_NAMES)[number];

export interface ReadModelCare {
  /**
   * Makes it anew from the journal, beside the one that answers, which the new one takes the place of once it has all of
   * it. At once; asked again while that goes on, it changes nothing.
   */
  rebuild(model: ReadModelName): void;
}
