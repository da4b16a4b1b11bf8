/** The Connection family. Over REST there is no connection to speak of: only PING and ECHO do anything. */
import { type CommandSpec, family, type Handler, NO_KEYS } from '../command-spec.js';
import { SimpleString, wrongArity } from '../reply.js';
import { refusedOverRest } from './refused.js';

const PONG = new SimpleString('PONG');

/** PING [message] → PONG, or the message. */
const ping: Handler = ({ args }) => {
  if (args.length > 2) throw wrongArity('ping');
  return args.length === 2 ? args.bytes(1) : PONG;
};

/** ECHO message → the message. */
const echo: Handler = ({ args }) => args.bytes(1);

export const CONNECTION: readonly CommandSpec[] = family('connection', [
  {
    name: 'PING',
    arity: -1,
    flags: ['fast', 'edge'],
    readOnlyToken: true,
    keys: NO_KEYS,
    handler: ping,
    since: '1.0.0',
    summary: 'Answers PONG, or what it is given.',
  },
  {
    name: 'ECHO',
    arity: 2,
    flags: ['fast', 'edge'],
    readOnlyToken: true,
    keys: NO_KEYS,
    handler: echo,
    since: '1.0.0',
    summary: 'Answers what it is given.',
  },
  refusedOverRest('AUTH', 'refused', '1.0.0', 'Tokens travel with each request.'),
  refusedOverRest('HELLO', 'refused', '6.0.0', 'The protocol is HTTP.'),
  refusedOverRest('QUIT', 'refused', '1.0.0', 'There is no connection to end.'),
  refusedOverRest('RESET', 'refused', '6.2.0', 'There is no connection to reset.'),
  refusedOverRest('SELECT', 'refused', '1.0.0', 'There is one database.'),
  refusedOverRest('CLIENT', 'refused', '2.4.0', 'There is no connection to name or list.'),
]);
