/** Whose numbers a monitoring token shows, looked up in this process's copy of the control state. Nothing is kept here. */
import type { ControlState, Database } from '../../domain/control/index.js';
import { MillraceError } from '../../kernel/index.js';
import { hashSecret } from '../../messages/index.js';

export interface ScrapeView {
  readonly state: Pick<ControlState, 'scrapeTokens' | 'live'>;
  /** Has it heard from the control stream lately enough to know? */
  readonly isFresh: boolean;
}

/** Longer ones are nobody's; a token is looked up by its hash, which costs by length. */
const MAX_TOKEN_CHARACTERS = 512;

export class ScrapeGrants {
  constructor(private readonly view: ScrapeView) {}

  /** Undefined for an unknown token, and for one that was switched off. @throws CONTROL_STALE */
  databaseOf(token: string): Pick<Database, 'id' | 'name'> | undefined {
    const { state, isFresh } = this.view;
    if (!isFresh) throw new MillraceError('CONTROL_STALE', 'no word from the control stream');
    if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
    const id = state.scrapeTokens.get(hashSecret(token));
    return id === undefined ? undefined : state.live(id);
  }
}
