#!/bin/bash
# machines.sh COMMAND...: runs a command on node1 of two machines, node1 and node2, which are namespaces of this one: each has its own name, network, shared memory and
# processes' IPC, and a cable joins their networks. mpirun of Open MPI starts processes on the other one by $OMPI_MCA_plm_rsh_agent, in place of ssh. Needs root and iproute2.
if [ -z "$KILN_NODES" ]; then
  # What follows sees a network and mounts of its own, and all of it ends with this process.
  exec env KILN_NODES=$$ unshare --net --mount --pid --fork --mount-proc --kill-child "$0" "$@"
fi
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n' > "$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
# Podman refuses systems that have both versions of cgroups.
umount /sys/fs/cgroup/unified 2> /dev/null || true
ip link add cable1 type veth peer name cable2
for k in 1 2; do
  unshare --net --uts --ipc --mount sh -c "hostname node$k && mount -t tmpfs tmpfs /dev/shm && echo \$\$ > $folder/node$k.part && mv $folder/node$k.part $folder/node$k && exec sleep infinity" &
  machine=$!
  # There is no such file where the machine could not be made.
  until [ -s "$folder/node$k" ]; do kill -0 $machine; sleep 0.05; done
  process=$(cat "$folder/node$k")
  ip link set cable$k netns "$process"
  nsenter -t "$process" -n sh -c "ip link set lo up && ip addr add 10.77.0.$k/24 dev cable$k && ip link set cable$k up"
done
cat > "$folder/agent" <<'AGENT'
#!/bin/sh
# agent HOST COMMAND...: as ssh does it.
host=$1
shift
exec nsenter -t "$(cat "${0%/*}/$host")" -n -u -i -m sh -c "$*"
AGENT
chmod +x "$folder/agent"
export OMPI_MCA_plm_rsh_agent=$folder/agent OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
status=0
nsenter -t "$(cat "$folder/node1")" -n -u -i -m "$@" || status=$?
exit $status
