import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

/** A TCP proxy in front of a server, to take the network away. */
export interface FaultProxy {
  readonly port: number;
  /** The same address as `url`, through the proxy. */
  readonly through: (url: string) => string;
  /** Ends all connections with a reset; new ones pass. */
  readonly reset: () => void;
  /** Lets all connections of this moment hang for good: no byte passes, nothing closes. New ones pass. */
  readonly swallow: () => void;
  /** Holds every chunk back for so many milliseconds, each way, in order, from now on; 0 lets all pass at once. */
  readonly delay: (ms: number) => void;
  /** Resets all connections and refuses new ones until `accept`. */
  readonly refuse: () => Promise<void>;
  readonly accept: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts a proxy on a free port of the loopback to the host and port of `url`. */
export async function createFaultProxy(url: string): Promise<FaultProxy> {
  const { hostname, port: targetPort } = new URL(url);
  const pairs = new Set<Pair>();
  let delayMs = 0;

  const relay = (near: Socket): void => {
    const far = connect(Number(targetPort), hostname);
    const pair: Pair = { near, far, there: slowed(() => delayMs), back: slowed(() => delayMs) };
    pairs.add(pair);
    near.pipe(pair.there).pipe(far);
    far.pipe(pair.back).pipe(near);
    const end = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
  };
  const reset = (): void => {
    for (const { near, far } of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
    pairs.clear();
  };

  let server = await listen(relay, 0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  const { port } = address;
  const refuse = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    reset();
    await closed;
  };

  return {
    port,
    through: (original) => {
      const address = new URL(original);
      address.hostname = "127.0.0.1";
      address.port = `${port}`;
      return address.href;
    },
    reset,
    swallow: () => {
      for (const { near, far, there, back } of pairs) {
        near.unpipe(there);
        back.unpipe(near);
        // Read and dropped, so that the peer's writes keep succeeding.
        near.resume();
        far.pause();
      }
    },
    delay: (ms) => {
      delayMs = ms;
    },
    refuse,
    accept: async () => {
      server = await listen(relay, port);
    },
    close: async () => {
      if (server.listening) await refuse();
      reset();
    },
  };
}

/** The two sockets of one connection, and what lies between them. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  readonly there: Transform;
  readonly back: Transform;
}

function slowed(delayMs: () => number): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, pass) => {
      const ms = delayMs();
      if (ms === 0) pass(null, chunk);
      else setTimeout(pass, ms, null, chunk);
    },
  });
}

async function listen(relay: (socket: Socket) => void, port: number): Promise<Server> {
  const server = createServer(relay).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
