/** CLIENT subcommands about the connection itself: its id, name, library and replies. */
import { ERRORS, ErrorReply, OK, SimpleString, VerbatimReply } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';
import { NO_MEMORY } from '../memory-refusals.js';
import type { RespClient } from '../resp-client.js';
import { clientLine } from './client-line.js';
import type { CommandAnswer, ConnectionCommand } from './connection-command.js';
import { isPlainName, NAME_PROBLEM, plainNameProblem } from './words.js';

function setName(client: RespClient, name: ByteString): CommandAnswer {
  if (!isPlainName(name)) return NAME_PROBLEM;
  if (!client.link.mayHold(name.length)) return NO_MEMORY;
  client.name = name;
  return OK;
}

/** CLIENT SETINFO LIB-NAME name | LIB-VER version → OK. */
function setInfo(client: RespClient, words: readonly ByteString[]): CommandAnswer {
  const attribute = (words[2] as ByteString).toLowerCase();
  const value = words[3] as ByteString;
  if (attribute !== 'lib-name' && attribute !== 'lib-ver') {
    return new ErrorReply(`ERR Unrecognized option '${words[2]}'`);
  }
  if (!isPlainName(value)) return plainNameProblem(attribute);
  if (!client.link.mayHold(value.length)) return NO_MEMORY;
  if (attribute === 'lib-name') client.libraryName = value;
  else client.libraryVersion = value;
  return OK;
}

/** CLIENT REPLY ON → OK; OFF and SKIP have no answer. */
function reply(client: RespClient, how: string): CommandAnswer {
  switch (how) {
    case 'ON':
      client.replies = 'on';
      return OK;
    case 'OFF':
      client.replies = 'off';
      return undefined;
    case 'SKIP':
      if (client.replies === 'on') client.replies = 'skip-next';
      return undefined;
    default:
      return ERRORS.syntax;
  }
}

function onOrOff(word: ByteString, note: (isOn: boolean) => void): CommandAnswer {
  const how = word.toUpperCase();
  if (how !== 'ON' && how !== 'OFF') return ERRORS.syntax;
  note(how === 'ON');
  return OK;
}

const HELP = `CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:
CACHING (YES|NO)
    Say whether the keys of the next command are tracked, in OPTIN and OPTOUT mode.
GETNAME
    Return the name of this connection.
GETREDIR
    Return the number of the connection that is told of changed keys.
HELP
    Print this help.
ID
    Return the number of this connection.
INFO
    Describe this connection.
KILL <ip:port>
    End the connection from that address.
KILL <option> <value> [<option> <value> [...]]
    End connections. Options are ID, TYPE, USER, ADDR, LADDR, MAXAGE, SKIPME.
LIST [TYPE (NORMAL|MASTER|REPLICA|PUBSUB)] [ID <id> [...]]
    Describe connections.
NO-EVICT (ON|OFF)
    Accepted for compatibility.
NO-TOUCH (ON|OFF)
    Accepted for compatibility.
PAUSE <timeout> [WRITE|ALL]
    Hold up commands, or those that write, for that many milliseconds.
REPLY (ON|OFF|SKIP)
    Say whether commands are answered.
SETINFO (LIB-NAME|LIB-VER) <value>
    Note the client's library.
SETNAME <name>
    Name this connection.
TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]] [OPTIN] [OPTOUT] [NOLOOP]
    Tell this connection when keys change that it has read.
TRACKINGINFO
    Describe what is tracked.
UNBLOCK <id> [TIMEOUT|ERROR]
    End the wait of a connection.
UNPAUSE
    Let held up commands run.`;

export const CLIENT_SELF: Readonly<Record<string, ConnectionCommand>> = {
  'CLIENT ID': { run: (client) => client.id, isQueueable: true },
  'CLIENT GETNAME': { run: (client) => (client.name === '' ? null : client.name), isQueueable: true },
  'CLIENT SETNAME': { run: (client, words) => setName(client, words[2] as ByteString), isQueueable: true },
  'CLIENT SETINFO': { run: setInfo, isQueueable: true },
  'CLIENT INFO': { run: (client) => new VerbatimReply(`${clientLine(client)}\n`), isQueueable: true },
  'CLIENT REPLY': {
    run: (client, words) => reply(client, (words[2] as ByteString).toUpperCase()),
    leavesSilence: true,
  },
  'CLIENT NO-EVICT': {
    run: (client, words) => onOrOff(words[2] as ByteString, (isOn) => (client.isNoEvict = isOn)),
    isQueueable: true,
  },
  'CLIENT NO-TOUCH': {
    run: (client, words) => onOrOff(words[2] as ByteString, (isOn) => (client.isNoTouch = isOn)),
    isQueueable: true,
  },
  'CLIENT HELP': { run: () => HELP.split('\n').map((line) => new SimpleString(line)), isQueueable: true },
};
