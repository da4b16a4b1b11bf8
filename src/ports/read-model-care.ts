/** Maintenance of the read models of this process by an operator. */

export const READ_MODEL_NAMES = ['messages', 'statistics', 'search'] as const;
export type ReadModelName = (typeof READ_MODEL_NAMES)[number];

export interface ReadModelCare {
  /**
   * Rebuilds the model from the journal while the old one answers, and then replaces it. Returns immediately; a call
   * during a rebuild has no effect.
   */
  rebuild(model: ReadModelName): void;
}
