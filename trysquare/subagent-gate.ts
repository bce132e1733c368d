/**
 * Loaded into every cell that injects agents: a tool may start those, as they were injected, and nothing else.
 *
 * Beside it lies `subagents.json`, the list of their names.
 */

import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const AGENTS = join(".pi", "agents");
const LIST = join(dirname(fileURLToPath(import.meta.url)), "subagents.json");

/** Every text under a key of that name, however deep: tools take one agent, a list of tasks, or a chain. */
function named(key: string, value: unknown): string[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === "string" ? [inner] : named(key, inner),
  );
}

/** Where a tool that starts in a directory finds agents: there, or above it. */
function nearest(start: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(join(directory, AGENTS))) return realpathSync(join(directory, AGENTS));
    if (dirname(directory) === directory) return undefined;
  }
}

/** Every definition in a directory, with its text. */
function definitions(directory: string): string {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  return JSON.stringify(names.sort().map((name) => [name, readFileSync(join(directory, name), "latin1")]));
}

export default function gate(pi: { on(event: "tool_call", handler: (event: { input: object }) => unknown): void }) {
  const injected: string[] = JSON.parse(readFileSync(LIST, "utf8"));
  const tree = process.cwd();
  const home = realpathSync(join(tree, AGENTS));
  const before = definitions(home);

  function refused(input: object, names: string[]): string | undefined {
    const others = names.filter((name) => !injected.includes(name));
    if (others.length > 0) return `no agent ${others.join(", ")} here; the agents are ${injected.join(", ")}.`;
    if (named("cwd", input).some((place) => nearest(resolve(tree, place)) !== home)) {
      return "an agent works in the tree of the task; leave cwd out.";
    }
    if (definitions(home) !== before) return "the definitions of the agents were changed; put them back.";
    return undefined;
  }

  pi.on("tool_call", (event) => {
    const names = named("agent", event.input);
    if (names.length === 0) return undefined;
    const reason = refused(event.input, names);
    if (reason !== undefined) return { block: true, reason };
    // The injected definitions are the project's, and tools look at the user's unless told.
    Object.assign(event.input, { agentScope: "project" });
    return undefined;
  });
}
