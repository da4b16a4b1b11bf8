/** What a JSON body holds once read: commands, and the texts that refuse one. */
import { ErrorReply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';

/** A command's words, or why it cannot run. */
export type JsonCommand = readonly ByteString[] | ErrorReply;

export const BODY_ERRORS = {
  empty: new ErrorReply('EOF'),
  notJson: new ErrorReply('ERR failed to parse request body'),
  notAnArray: new ErrorReply('expected JSON array'),
  nullArgument: new ErrorReply('ERR null args are not supported'),
  nestedArray: new ErrorReply('ERR unsupported arg type: "[": json.Delim'),
  nestedObject: new ErrorReply('ERR unsupported arg type: "{": json.Delim'),
} as const;
